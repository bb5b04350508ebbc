//! `thalweg show`.

use crate::args::Show;
use crate::failure::Failure;
use crate::print;
use lab::files;
use report::logs;
use scenario::reason;
use std::fs;
use std::path::Path;

/// The name of the page in its folder.
const PAGE: &str = "logs.html";

/// Reads logs, prints a table of them, and writes the page that draws them.
pub fn show(args: &Show) -> Result<(), Failure> {
    let (mut traces, mut wrong) = (Vec::new(), Vec::new());
    for file in &args.files {
        match read(file) {
            Ok(read) => traces.extend(read),
            Err(why) => wrong.push(format!("{}: {why}", file.display())),
        }
    }
    if !wrong.is_empty() {
        return Err(Failure::Wrong(wrong));
    }
    let logs = logs::logs(traces);
    let page = args.out.join(PAGE);
    let written = fs::create_dir_all(&args.out)
        .and_then(|()| files::write(&page, |out| out.write_all(report::logs_page(&logs).as_bytes())));
    written.map_err(|e| {
        let (out, why) = (args.out.display(), reason(&e));
        Failure::Wrong(vec![format!("--out {out}: cannot be written ({why}); name another folder")])
    })?;
    match args.quiet {
        true => Ok(()),
        false => print::text(&format!("{}\n{}\n", logs::table(&logs).to_text(), page.display())),
    }
}

/// The traces of a file that have something to draw, each with the file's name.
fn read(file: &Path) -> Result<Vec<(String, qlog::Trace)>, String> {
    let bytes = fs::read(file).map_err(|e| format!("cannot be read ({})", reason(&e)))?;
    let traces = qlog::read(&bytes).map_err(|mistake| mistake.to_string())?;
    let traces: Vec<_> = traces.into_iter().filter(logs::has_something).collect();
    if traces.is_empty() {
        return Err("has no events of congestion control: no metrics, states, losses or packets sent".into());
    }
    let stem = file.file_stem().map_or_else(|| file.display().to_string(), |stem| stem.to_string_lossy().into());
    let several = traces.len() > 1;
    let name = |i: usize| if several { format!("{stem}, trace {}", i + 1) } else { stem.clone() };
    Ok(traces.into_iter().enumerate().map(|(i, trace)| (name(i), trace)).collect())
}
