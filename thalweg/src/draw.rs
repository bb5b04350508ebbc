//! `thalweg draw`.

use crate::args::Draw;
use crate::failure::Failure;
use crate::print;
use lab::draw::{self, PathId};
use lab::files;
use scenario::reason;
use std::fs;

/// Prints a drawn path, or writes several into a folder.
pub fn draw(args: &Draw) -> Result<(), Failure> {
    let seed = args.seed;
    let numbers = args.path.map_or(1..=args.count.get(), |path| path.get()..=path.get());
    let Some(folder) = &args.out else {
        if numbers.start() < numbers.end() {
            let why = "--count: several scenarios do not fit into one file; add --out DIR, or write --path K";
            return Err(Failure::Wrong(vec![why.into()]));
        }
        return print::text(&draw::path(PathId { seed, number: *numbers.start() }).scenario());
    };
    let failed = |e| Failure::Failed(format!("--out {}: cannot be written ({})", folder.display(), reason(&e)));
    fs::create_dir_all(folder).map_err(failed)?;
    for number in numbers {
        let text = draw::path(PathId { seed, number }).scenario();
        let file = folder.join(format!("{seed}-{number}.toml"));
        files::write(&file, |out| out.write_all(text.as_bytes())).map_err(failed)?;
    }
    Ok(())
}
