//! Results on their way out: a folder with the report, and a table or JSON on standard output.

use crate::args::{Format, Output};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::interrupt::Interrupt;
use crate::print;
use experiment::Finished;
use lab::results::{self, Summary};
use scenario::reason;
use std::path::PathBuf;

/// Where results go, with the folder for them prepared.
pub struct Destination {
    folder: Option<(Folder, PathBuf)>,
    format: Format,
    quiet: bool,
}

impl Destination {
    /// Prepares the folder that `output` names, if it names one.
    pub fn prepare(output: &Output) -> Result<Destination, Failure> {
        let folder = match &output.out {
            Some(name) => Some((Folder::prepare(name)?, name.clone())),
            None => None,
        };
        Ok(Destination { folder, format: output.format, quiet: output.quiet })
    }

    /// Writes and prints the results of `runs`, and returns the summary. If `interrupt` came while it wrote, nothing
    /// remains.
    pub fn finish(
        self,
        title: &str,
        seed: u64,
        runs: &[Finished],
        interrupt: Option<&Interrupt>,
    ) -> Result<Summary, Failure> {
        if let Some((folder, name)) = self.folder {
            report::write(folder.path(), title, seed, runs).map_err(|e| {
                Failure::Failed(format!("--out {}: cannot be written ({})", name.display(), reason(&e)))
            })?;
            if interrupt.is_some_and(Interrupt::came) {
                return Err(Failure::Interrupted);
            }
            folder.publish()?;
            if !self.quiet {
                print::note(&format!("report: {}", name.join("report.html").display()));
            }
        }
        let summary = results::summary(title, seed, runs);
        match self.format {
            Format::Table => print::text(&results::table(&summary))?,
            Format::Json => print::json(&summary)?,
        }
        Ok(summary)
    }
}
