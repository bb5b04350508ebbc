//! Puts the catalogue into the program, so that `thalweg reproduce` works anywhere, and says which code makes the runs, so that
//! results of other code are not taken for its own.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// All files below `folder` with this ending, in the order of their names.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|it| it == ending) {
            found.push(path);
        }
    }
}

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let root = here.parent().unwrap();
    let mut catalogue = Vec::new();
    files(&root.join("catalogue"), "toml", &mut catalogue);
    files(&root.join("catalogue"), "trace", &mut catalogue);
    let mut text = String::from("&[\n");
    for path in catalogue {
        let name = path.strip_prefix(root.join("catalogue")).unwrap().to_str().unwrap().replace('\\', "/");
        writeln!(text, "    ({name:?}, include_str!({path:?})),").unwrap();
    }
    fs::write(PathBuf::from(env::var("OUT_DIR").unwrap()).join("catalogue.rs"), text + "]\n").unwrap();

    // What a record says depends on these folders and the libraries' versions, and on nothing else of the program.
    let lock = root.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let mut code = vec![lock];
    for folder in ["control/src", "path/src", "experiment/src", "sim/src", "scenario/src", "lab/src", "report/src"] {
        files(&root.join(folder), "rs", &mut code);
    }
    let mut hash = 0xcbf2_9ce4_8422_2325_u64; // FNV-1a
    for byte in code.iter().flat_map(|path| fs::read(path).unwrap()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    println!("cargo::rustc-env=THALWEG_CODE={hash:016x}");
}
