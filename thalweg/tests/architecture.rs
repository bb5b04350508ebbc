//! The structure that docs/architecture.md describes: which crate may use which, and that no modules use each other in
//! a circle.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Attribute, Item, UseTree, Visibility};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The folders of the workspace's crates.
fn crates() -> Vec<String> {
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    members.iter().map(|member| member.as_str().unwrap().to_string()).collect()
}

/// From the bottom up: a crate may use only crates in layers below its own.
const LAYERS: [&[&str]; 9] = [
    &["control"],
    &["path", "header", "realtime", "host"],
    &["qlog"],
    &["experiment", "emulate", "wire", "quinn"],
    &["sim", "scenario", "real", "copy"],
    &["lab"],
    &["report"],
    &["thalweg"],
    &["python"],
];

#[test]
fn crates_use_only_crates_below_them() {
    let layer = |name: &str| LAYERS.iter().position(|layer| layer.contains(&name));
    for name in crates() {
        let own = layer(&name).unwrap_or_else(|| panic!("{name} has no layer; see docs/architecture.md"));
        let manifest: toml::Table = fs::read_to_string(root().join(&name).join("Cargo.toml")).unwrap().parse().unwrap();
        for used in dependencies(&manifest).iter().filter(|used| crates().contains(used)) {
            let theirs = layer(used).unwrap_or_else(|| panic!("{used} has no layer"));
            assert!(theirs < own, "{name} uses {used}, which is not in a layer below it");
        }
    }
}

/// All that a crate depends on outside of its tests, on any platform.
fn dependencies(manifest: &toml::Table) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut add = |table: Option<&toml::Value>| {
        let named = table.and_then(toml::Value::as_table).into_iter().flatten();
        // The crate in the folder `quinn` is not the published one of that name.
        let ours = named.filter(|(_, how)| how.get("workspace").or(how.get("path")).is_some());
        all.extend(ours.map(|(name, _)| name.trim_start_matches("thalweg-").to_string()));
    };
    add(manifest.get("dependencies"));
    for (_, platform) in manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten() {
        add(platform.get("dependencies"));
    }
    all
}

#[test]
fn no_modules_use_each_other_in_a_circle() {
    let mut found = Vec::new();
    for name in crates() {
        for circle in Source::read(&root().join(&name).join("src")).circles() {
            if !within_one_protocol(&name, &circle) {
                found.push(format!("{name}: {}", circle.join(", ")));
            }
        }
    }
    assert!(found.is_empty(), "modules that use each other in a circle:\n{}", found.join("\n"));
}

/// The files of one protocol are one idea, and may use each other as they like.
fn within_one_protocol(name: &str, circle: &[String]) -> bool {
    let folder = |file: &String| file.split_once('/').map(|(folder, _)| folder.to_string());
    let first = folder(&circle[0]);
    name == "control" && first.is_some() && circle.iter().all(|file| folder(file) == first)
}

/// A module of a crate, by the names that lead to it from the crate's root.
type Module = Vec<String>;

/// What is known of a crate's modules.
#[derive(Default)]
struct Source {
    /// The file of each module, relative to the crate's `src`.
    files: BTreeMap<Module, String>,
    /// What a name means that a module imports or re-exports.
    imports: HashMap<(Module, String), Vec<String>>,
    /// Everything that a module names.
    uses: Vec<(Module, Vec<String>)>,
}

impl Source {
    fn read(folder: &Path) -> Source {
        let mut source = Source::default();
        let first = ["lib.rs", "main.rs"].into_iter().find(|file| folder.join(file).exists()).unwrap();
        source.read_file(folder, Path::new(first), vec![]);
        source
    }

    fn read_file(&mut self, folder: &Path, file: &Path, module: Module) {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let syntax = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.files.insert(module.clone(), file.display().to_string());
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let beside = file.parent().unwrap();
        let below = if ["lib", "main", "mod"].contains(&stem) { beside.to_path_buf() } else { beside.join(stem) };
        for item in &syntax.items {
            match item {
                Item::Mod(child) if child.content.is_none() && !is_test(&child.attrs) => {
                    let name = child.ident.to_string();
                    let stated = child.attrs.iter().find(|it| it.path().is_ident("path")).map(stated_path);
                    let flat = stated.map_or(below.join(format!("{name}.rs")), |stated| beside.join(stated));
                    let file = if folder.join(&flat).exists() { flat } else { below.join(&name).join("mod.rs") };
                    if folder.join(&file).exists() {
                        self.read_file(folder, &file, [&module[..], &[name]].concat());
                    }
                }
                Item::Use(import) if !is_test(&import.attrs) => {
                    let re_export = !matches!(import.vis, Visibility::Inherited);
                    self.import(&module, &import.tree, vec![], re_export);
                }
                _ => {}
            }
        }
        let mut paths = Paths::default();
        syntax.items.iter().filter(|item| !matches!(item, Item::Use(_))).for_each(|item| paths.visit_item(item));
        self.uses.extend(paths.found.into_iter().map(|path| (module.clone(), path)));
    }

    fn import(&mut self, module: &Module, tree: &UseTree, mut path: Vec<String>, re_export: bool) {
        match tree {
            UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.import(module, &part.tree, path, re_export);
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(module, tree, path.clone(), re_export));
            }
            UseTree::Name(name) => {
                if name.ident != "self" {
                    path.push(name.ident.to_string());
                }
                self.note(module, path.last().cloned().unwrap_or_default(), path, re_export);
            }
            UseTree::Rename(rename) => {
                path.push(rename.ident.to_string());
                self.note(module, rename.rename.to_string(), path, re_export);
            }
            UseTree::Glob(_) => self.uses.push((module.clone(), path)),
        }
    }

    /// A re-export says where a name is found; only what a module imports for itself is a use.
    fn note(&mut self, module: &Module, name: String, path: Vec<String>, re_export: bool) {
        if !re_export {
            self.uses.push((module.clone(), path.clone()));
        }
        self.imports.insert((module.clone(), name), path);
    }

    /// The module in which what `path` means within `module` is defined, if that is in this crate.
    fn resolve(&self, module: &Module, path: &[String], depth: usize) -> Option<Module> {
        let mut at = module.clone();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => (at, rest) = (vec![], &path[1..]),
            Some("self") => rest = &path[1..],
            Some("super") => {
                while rest.first().is_some_and(|part| part == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            Some(first) if self.files.contains_key(&[&at[..], &[first.to_string()]].concat()) => {}
            Some(first) if path.len() > 1 && depth < 8 => {
                // A name that the module has imported, such as another module's.
                let import = self.imports.get(&(at.clone(), first.to_string()))?;
                return self.resolve(&at, &[import, &path[1..]].concat(), depth + 1);
            }
            _ => return None,
        }
        while let Some(part) = rest.first()
            && self.files.contains_key(&[&at[..], std::slice::from_ref(part)].concat())
        {
            at.push(part.clone());
            rest = &rest[1..];
        }
        match rest.first().and_then(|name| self.imports.get(&(at.clone(), name.clone()))) {
            Some(import) if depth < 8 => self.resolve(&at, &[import, &rest[1..]].concat(), depth + 1).or(Some(at)),
            _ => Some(at),
        }
    }

    /// The sets of files of which each uses all others, directly or through others.
    fn circles(&self) -> Vec<Vec<String>> {
        let mut uses: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
        for (module, path) in &self.uses {
            let (from, to) = (&self.files[module], self.resolve(module, path, 0));
            if let Some(to) = to.and_then(|module| self.files.get(&module))
                && to != from
            {
                uses.entry(from).or_default().insert(to);
            }
        }
        let reached: BTreeMap<_, _> = self.files.values().map(|file| (file, reach(&uses, file))).collect();
        let mut circles: Vec<Vec<String>> = Vec::new();
        for (file, all) in &reached {
            let circle: Vec<String> =
                all.iter().filter(|&&other| reached[other].contains(file)).map(|it| it.to_string()).collect();
            if circle.len() > 1 && !circles.contains(&circle) {
                circles.push(circle);
            }
        }
        circles
    }
}

/// All files that `start` uses, directly or through others.
fn reach<'s>(uses: &BTreeMap<&'s String, BTreeSet<&'s String>>, start: &'s String) -> BTreeSet<&'s String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(at) = open.pop() {
        open.extend(uses.get(at).into_iter().flatten().copied().filter(|&next| seen.insert(next)));
    }
    seen
}

/// Paths of several names in code, without what is only compiled for tests.
#[derive(Default)]
struct Paths {
    found: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    /// The path in `pub(in ...)` is no use.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    /// Macros such as `vec!` take expressions, in which there may be paths, too.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let expressions = call.parse_body_with(Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated);
        let mut inside = Paths::default();
        expressions.iter().flatten().for_each(|expression| inside.visit_expr(expression));
        self.found.append(&mut inside.found);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.found.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        syn::visit::visit_path(self, path);
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    let only_tests =
        |it: &Attribute| it.path().is_ident("cfg") && it.parse_args::<syn::Ident>().is_ok_and(|of| of == "test");
    attributes.iter().any(only_tests)
}

/// The file that `#[path = "..."]` names.
fn stated_path(attribute: &Attribute) -> String {
    let syn::Meta::NameValue(stated) = &attribute.meta else { panic!("#[path] without a path") };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &stated.value else {
        panic!("#[path] is no text")
    };
    text.value()
}
