//! `thalweg vectors`.

use crate::args::Vectors;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use control::{Bytes, Duration};
use experiment::traffic::Mix;
use scenario::reason;
use scenario::vectors::{Contents, write_all};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Bound of what a mix sends in all, bytes.
const LARGEST: f64 = 1e12;

/// Writes a synthetic mix of connection vectors to a file or to standard output.
pub fn vectors(args: &Vectors) -> Result<(), Failure> {
    let Vectors { load, duration, seed, packet, header, out } = args;
    let wrong = |why: String| Err(Failure::Wrong(vec![why]));
    if load.as_bps() <= 0.0 {
        return wrong("--load: is zero; write one like 70Mbps".into());
    }
    if *duration == Duration::ZERO {
        return wrong("--duration: is zero; write one like 30min".into());
    }
    // A block of the mix is drawn without a look for Ctrl-C. The bound keeps blocks small enough for that.
    let total = load.as_bps() / 8.0 * duration.as_secs();
    if total > LARGEST {
        return wrong(format!(
            "--load: {load} for {duration} are {:.1} TB, more than the 1 TB of which a mix can be drawn; write less, or a shorter --duration",
            total / 1e12
        ));
    }
    if packet <= header || *packet > Bytes(1_000_000) {
        return wrong(format!(
            "--packet: {packet} is no size for a packet with a header of {header}; write one like 1000B"
        ));
    }
    let mix = Mix { seed: *seed, index: 0, load: *load, duration: *duration, packet: *packet, header: *header };
    let head = format!(
        "# Synthetic connection vectors, original Tmix format: {load} for {duration}, seed {seed}, packets of {packet} with headers of {header}\n"
    );
    // Ctrl-C is caught before there is a file to remove.
    let interrupt = Interrupt::catch();
    let Some(file) = out else {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = write(&mut out, &head, &mix, &interrupt);
        return match written {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Unread),
            Err(e) => Err(Failure::Failed(format!("cannot print: {}", reason(&e)))),
            Ok(None) => Err(Failure::Interrupted),
            Ok(Some(_)) => Ok(()),
        };
    };
    let failed =
        |e: io::Error| Failure::Failed(format!("--out {}: cannot be written ({})", file.display(), reason(&e)));
    // The file is written under a temporary name and renamed when it is complete.
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    // The umask is applied to it, as for any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let temporary = builder.prefix(".thalweg-").tempfile_in(folder).map_err(failed)?;
    let mut out = BufWriter::new(temporary.as_file());
    let Some(contents) = write(&mut out, &head, &mix, &interrupt).map_err(failed)? else {
        return Err(Failure::Interrupted);
    };
    drop(out);
    temporary.persist(file).map_err(|e| failed(e.error))?;
    let Contents { connections, messages, bytes: [sent, answered], .. } = contents;
    let (sent, answered) = (Bytes(sent), Bytes(answered));
    print::note(&format!("{}: {connections} connections, {messages} messages, {sent} and {answered}", file.display()));
    Ok(())
}

/// Writes `head` and the vectors of `mix`. None if `interrupt` came.
fn write(out: &mut impl Write, head: &str, mix: &Mix, interrupt: &Interrupt) -> io::Result<Option<Contents>> {
    out.write_all(head.as_bytes())?;
    let contents = write_all(out, mix, &mut || !interrupt.came())?;
    out.flush()?;
    Ok(contents)
}
