//! Puts the catalogue and the blocks into the program, so that it can reproduce and evaluate anywhere, and names the code that makes runs
//! and records (`src/code.rs`), so that results of other code are not taken for those of this program.

mod code;
mod libraries;

use code::Code;
use libraries::{crates, libraries};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    // In a package, the links to the workspace's folders are the folders.
    embed(&here.join("catalogue"), &["toml", "trace"]);
    embed(&here.join("blocks"), &["toml"]);

    let root = here.parent().unwrap();
    // Programs add the controllers of the crate `quinn`, so that its code and quinn's decide simulations, too.
    println!("cargo::rustc-env=THALWEG_SIMULATION={}", name_of(root, &["sim", "quinn"]));
    println!("cargo::rustc-env=THALWEG_CODE={}", name_of(root, &["report", "quinn"]));
}

/// Writes a list of the files in `folder` with these endings, with their texts, as Rust into a file of its name.
fn embed(folder: &Path, endings: &[&str]) {
    let mut found = Vec::new();
    for ending in endings {
        files(folder, ending, &mut found);
    }
    let mut text = String::from("&[\n");
    for path in found {
        let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
        writeln!(text, "    ({name:?}, include_str!({path:?})),").unwrap();
    }
    let out = PathBuf::from(env::var("OUT_DIR").unwrap()).join(folder.file_name().unwrap()).with_extension("rs");
    fs::write(out, text + "]\n").unwrap();
}

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

/// A hash of the sources of the crates `names` and of all crates of the workspace that they use, and of the versions of
/// the libraries that they use. In a package, which has no other crates beside it, the version of the program stands
/// for them: what is published under a version never changes.
fn name_of(root: &Path, names: &[&str]) -> String {
    let mut hash = blake3::Hasher::new();
    let crates: BTreeSet<String> = names.iter().flat_map(|name| crates(root, name)).collect();
    if crates.is_empty() {
        hash.update(env::var("CARGO_PKG_VERSION").unwrap().as_bytes());
    }
    for name in &crates {
        let mut sources = Vec::new();
        files(&root.join(name).join("src"), "rs", &mut sources);
        let mut code = Code::default();
        let read = |path: &PathBuf| fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let texts: Vec<(&PathBuf, String)> = sources.iter().map(|path| (path, code.read(path, &read(path)))).collect();
        for (path, text) in texts.iter().filter(|(path, _)| !code.tests.iter().any(|test| path.starts_with(test))) {
            let path = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            hash.update(path.as_bytes()).update(&[0]).update(text.as_bytes()).update(&[0]);
        }
    }
    for library in libraries(root, &crates) {
        hash.update(library.as_bytes()).update(&[0]);
    }
    hash.finalize().to_hex()[..32].to_string()
}
