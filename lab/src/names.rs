//! The names of the files that a run leaves.

use experiment::Run;

/// The longest part of a file's name that is the run's, in bytes.
const LONGEST: usize = 160;

/// The names of the captures of a run's packets on the senders' and on the receivers' side: the run's, without spaces,
/// and the side's.
pub fn of_captures(run: &Run) -> [String; 2] {
    ["senders", "receivers"].map(|side| format!("{}-{side}.pcapng", plain(&run.name())))
}

/// The name of the log of flow `number`: the run's, without spaces, and the flow's if there are several.
pub fn of_log(run: &Run, number: usize) -> String {
    let name = plain(&run.name());
    let flow = if run.experiment.flows.len() > 1 { format!("-flow-{}", number + 1) } else { String::new() };
    format!("{name}{flow}.sqlog")
}

/// `name` with nothing but characters that every file system takes. A long one is cut, and ends in a hash of the whole.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for byte in name.bytes().filter(|byte| *byte != b' ') {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b',' | b'=' | b'+' | b'-' | b'_' | b'(' | b')' => {
                plain.push(byte.into());
            }
            other => plain += &format!("%{other:02X}"),
        }
    }
    if plain.len() > LONGEST {
        let hash = blake3::hash(name.as_bytes()).to_hex();
        plain.truncate(LONGEST);
        plain += &format!("-{}", &hash[..8]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_short() {
        assert_eq!(plain("rapid, path.rate = 10 Gbps (real)"), "rapid,path.rate=10Gbps(real)");
        assert_eq!(plain("a/../b: \"1\""), "a%2F..%2Fb%3A%221%22");
        let long = "x".repeat(500);
        assert!(plain(&long).len() < 200 && plain(&long) != plain(&format!("{long}y")));
    }
}
