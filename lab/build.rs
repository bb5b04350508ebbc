//! Puts the catalogue into the program, so that `thalweg reproduce` works anywhere, and names the code that makes runs
//! and records (`src/code.rs`), so that results of other code are not taken for those of this program.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The crates that decide what a simulation gives.
const SIMULATION: [&str; 4] = ["control", "path", "experiment", "sim"];
/// The crates that decide, with these, what a record says.
const RECORDS: [&str; 3] = ["scenario", "lab", "report"];

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    // In a package, the link to the workspace's folder is the folder.
    let folder = here.join("catalogue");
    let mut catalogue = Vec::new();
    files(&folder, "toml", &mut catalogue);
    files(&folder, "trace", &mut catalogue);
    let mut text = String::from("&[\n");
    for path in catalogue {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
        writeln!(text, "    ({name:?}, include_str!({path:?})),").unwrap();
    }
    fs::write(PathBuf::from(env::var("OUT_DIR").unwrap()).join("catalogue.rs"), text + "]\n").unwrap();

    let root = here.parent().unwrap();
    println!("cargo::rustc-env=THALWEG_SIMULATION={}", name_of(root, &SIMULATION));
    println!("cargo::rustc-env=THALWEG_CODE={}", name_of(root, &[&SIMULATION[..], &RECORDS[..]].concat()));
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

/// A hash of the sources of `crates` and of the versions of the libraries that they use. In a package, which has no
/// other crates beside it, the version of the program stands for them: what is published under a version never changes.
fn name_of(root: &Path, crates: &[&str]) -> String {
    let mut hash = blake3::Hasher::new();
    if !crates.iter().all(|name| root.join(name).join("src").is_dir()) {
        hash.update(env::var("CARGO_PKG_VERSION").unwrap().as_bytes());
        return hash.finalize().to_hex()[..32].to_string();
    }
    for folder in crates.iter().map(|name| root.join(name)) {
        let mut sources = Vec::new();
        files(&folder.join("src"), "rs", &mut sources);
        let mut code = Code::default();
        let read = |path: &PathBuf| (path.clone(), code.read(path));
        let texts: Vec<(PathBuf, String)> = sources.iter().map(read).collect();
        for (path, text) in texts.iter().filter(|(path, _)| !code.tests.iter().any(|test| path.starts_with(test))) {
            let path = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            hash.update(path.as_bytes()).update(&[0]).update(text.as_bytes()).update(&[0]);
        }
    }
    for library in libraries(root, crates) {
        hash.update(library.as_bytes()).update(&[0]);
    }
    hash.finalize().to_hex()[..32].to_string()
}

/// Reads sources.
#[derive(Default)]
struct Code {
    /// Files and folders of modules that are compiled for tests only.
    tests: Vec<PathBuf>,
}

impl Code {
    /// The tokens of a source without comments, documentation and tests, separated by spaces.
    fn read(&mut self, path: &Path) -> String {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let stem = path.file_stem().unwrap_or_default();
        let own_folder = stem == "lib" || stem == "mod" || stem == "main";
        let folder = if own_folder { path.parent().unwrap().to_path_buf() } else { path.with_extension("") };
        let mut code = String::new();
        self.write(tokens, &folder, &mut code);
        code
    }

    /// Appends `tokens` to `code`. Files of modules that are declared in them are in `folder`.
    fn write(&mut self, tokens: TokenStream, folder: &Path, code: &mut String) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
            let inner = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '!');
            let bang = if hash && inner { tokens.next() } else { None };
            let attribute = match tokens.peek() {
                Some(TokenTree::Group(group)) if hash && group.delimiter() == Delimiter::Bracket => {
                    group.stream().to_string().replace(' ', "")
                }
                _ => String::new(),
            };
            if attribute.starts_with("doc=") {
                tokens.next();
                continue;
            }
            if attribute == "cfg(test)" && bang.is_none() {
                tokens.next();
                let mut item = Vec::new();
                for token in tokens.by_ref() {
                    let brace = matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
                    let end = brace || matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';');
                    item.push(token.to_string());
                    if end {
                        break;
                    }
                }
                // `mod name;`, whatever is before.
                if let [.., keyword, name, end] = &item[..]
                    && keyword == "mod"
                    && end == ";"
                {
                    self.tests.extend([folder.join(name), folder.join(format!("{name}.rs"))]);
                }
                continue;
            }
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    *code += open;
                    self.write(group.stream(), folder, code);
                    *code += close;
                }
                other => {
                    let _ = write!(code, "{other} ");
                }
            }
            if bang.is_some() {
                *code += "! ";
            }
        }
    }
}

/// The libraries that `crates` use, directly or not, as Cargo.lock has them: name, version and checksum.
fn libraries(root: &Path, crates: &[&str]) -> BTreeSet<String> {
    let lock = root.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let lock = fs::read_to_string(lock).unwrap_or_default();
    let packages: Vec<Package> = lock.split("[[package]]").skip(1).map(Package::read).collect();
    let mut wanted: Vec<String> = Vec::new();
    for name in crates {
        let manifest = root.join(name).join("Cargo.toml");
        println!("cargo::rerun-if-changed={}", manifest.display());
        let text = fs::read_to_string(&manifest).unwrap_or_else(|e| panic!("{}: {e}", manifest.display()));
        let sections = text.split("\n[").filter(|section| section.starts_with("dependencies]"));
        let lines = sections.flat_map(|section| section.lines().skip(1));
        wanted.extend(lines.filter_map(|line| Some(line.split_once(['.', ' ', '='])?.0.to_string())));
    }
    let mut found = BTreeSet::new();
    while let Some(name) = wanted.pop() {
        // Dependencies are named with their version if there are several.
        let named = |it: &&Package| it.name == name || format!("{} {}", it.name, it.version) == name;
        for package in packages.iter().filter(named).filter(|it| !it.checksum.is_empty()) {
            if found.insert(format!("{} {} {}", package.name, package.version, package.checksum)) {
                wanted.extend(package.dependencies.iter().map(|it| it.to_string()));
            }
        }
    }
    found
}

/// An entry of Cargo.lock.
struct Package<'t> {
    name: &'t str,
    version: &'t str,
    /// Empty for the workspace's own crates.
    checksum: &'t str,
    dependencies: Vec<&'t str>,
}

impl Package<'_> {
    fn read(text: &str) -> Package<'_> {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            line.unwrap_or_default().trim_matches('"')
        };
        let dependencies = text.lines().filter(|line| line.starts_with(" \""));
        Package {
            name: value("name"),
            version: value("version"),
            checksum: value("checksum"),
            dependencies: dependencies.map(|line| line.trim().trim_matches(['"', ','])).collect(),
        }
    }
}
