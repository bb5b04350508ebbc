//! The files that show records: pages, figures, and claims for programs.

use lab::files::write;
use lab::reproduce::paper::papers;
use lab::reproduce::record::Claims;
use lab::reproduce::text;
use lab::reproduce::{Artefact, Scale};
use report::{Drawn, pdf};
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes `claims.json`, `claims.md`, the pages, and the figures for papers (as PDF only if this program can make
/// them). Removes the pages of papers that have no record.
pub fn publish(folder: &Path, scale: Scale, catalogue: &[Artefact], records: &[Drawn]) -> io::Result<()> {
    let put = |name: &str, bytes: &[u8]| write(&folder.join(name), |file| file.write_all(bytes));
    fs::create_dir_all(folder.join("figures"))?;
    for (name, svg) in records.iter().flat_map(report::svgs) {
        put(&format!("figures/{name}.svg"), svg.as_bytes())?;
        if pdf::AVAILABLE {
            put(&format!("figures/{name}.pdf"), &pdf::pdf(&svg).map_err(io::Error::other)?)?;
        }
    }
    let papers = papers(records);
    for paper in &papers {
        put(&format!("{}.html", paper.folder), report::gallery::page(paper, scale, pdf::AVAILABLE).as_bytes())?;
    }
    for folder_of_paper in catalogue.iter().filter_map(|it| it.id.split('/').next()) {
        if !papers.iter().any(|paper| paper.folder == folder_of_paper) {
            let _ = fs::remove_file(folder.join(format!("{folder_of_paper}.html")));
        }
    }
    put("index.html", report::gallery::index(scale, records).as_bytes())?;
    put("claims.md", text::markdown(scale, records, catalogue.len(), None).as_bytes())?;
    let mut json = serde_json::to_vec_pretty(&Claims::of(scale, records))?;
    json.push(b'\n');
    put("claims.json", &json)
}

/// When, from which commit and in how much time the records were made, as a sentence.
pub fn made(seconds: f64, jobs: usize, scale: Scale) -> String {
    // The commit is known only on the machine where the program was built.
    let git = |args: &[&str]| {
        let source = env!("CARGO_MANIFEST_DIR");
        let output = Command::new("git").arg("-C").arg(source).args(args).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output().map(|it| it.stdout).unwrap_or_default();
    let commit = git(&["rev-parse", "--short=10", "HEAD"]).map_or(String::new(), |commit| {
        let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|text| !text.is_empty());
        format!(", commit {commit}{}", if changed { " with changes" } else { "" })
    });
    format!(
        "Made on {}{commit}, in {:.0} min {:.0} s with {jobs} runs at a time. `thalweg reproduce --all --scale {scale} --markdown FILE` \
         makes it again.",
        String::from_utf8_lossy(&date).trim(),
        (seconds / 60.0).floor(),
        seconds % 60.0
    )
}
