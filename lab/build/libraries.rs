//! What crates use, from their manifests and Cargo.lock.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The crates of the workspace `root` that `name` uses, directly or not, and itself: the names of their folders.
pub fn crates(root: &Path, name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut wanted = vec![name.to_string()];
    while let Some(name) = wanted.pop() {
        if root.join(&name).join("src").is_dir() && found.insert(name.clone()) {
            let folder = |name: String| name.strip_prefix("thalweg-").map_or(name.clone(), str::to_string);
            wanted.extend(dependencies(root, &name).into_iter().map(folder));
        }
    }
    found
}

/// The libraries that `crates` use, directly or not, as Cargo.lock has them: name, version and checksum.
pub fn libraries(root: &Path, crates: &BTreeSet<String>) -> BTreeSet<String> {
    if crates.is_empty() {
        return BTreeSet::new(); // A package, which has no lock file beside it.
    }
    let lock = root.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let lock = fs::read_to_string(lock).unwrap_or_default();
    let packages: Vec<Package> = lock.split("[[package]]").skip(1).map(Package::read).collect();
    let mut wanted: Vec<String> = crates.iter().flat_map(|name| dependencies(root, name)).collect();
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

/// The names in the section `[dependencies]` of a crate's manifest.
fn dependencies(root: &Path, name: &str) -> Vec<String> {
    let manifest = root.join(name).join("Cargo.toml");
    println!("cargo::rerun-if-changed={}", manifest.display());
    let text = fs::read_to_string(&manifest).unwrap_or_else(|e| panic!("{}: {e}", manifest.display()));
    let sections = text.split("\n[").filter(|section| section.starts_with("dependencies]"));
    let lines = sections.flat_map(|section| section.lines().skip(1)).filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| Some(line.split_once(['.', ' ', '='])?.0.to_string())).collect()
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
