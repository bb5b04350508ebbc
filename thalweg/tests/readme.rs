//! What README and docs promise, checked with the program.

use assert_cmd::cargo::cargo_bin_cmd;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const README: &str = include_str!("../../README.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The files in `folder`; a relative path starts at the root.
fn files(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The fenced blocks of `language` in `text`.
fn fenced<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// README's commands: the first runs a scenario, the second runs the tests.
fn commands() -> [&'static str; 2] {
    let blocks = fenced(README, "sh");
    let commands: Vec<&str> = blocks.iter().flat_map(|block| block.lines()).collect();
    commands.try_into().expect("two commands, and no other")
}

#[test]
fn the_first_command_prints_the_table_shown() {
    let arguments = commands()[0].strip_prefix("cargo run --release -- ").expect("runs the program");
    let (arguments, out) = arguments.split_once(" --out ").expect("leaves a report");
    assert!(README.contains(&format!("{out}/report.html")));
    let folder = tempfile::tempdir().unwrap();
    let output = cargo_bin_cmd!("thalweg")
        .current_dir(root())
        .args(arguments.split(' '))
        .arg("--out")
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path().join("report.html").exists());
    let table = String::from_utf8(output.stdout).unwrap();
    let shown = fenced(README, "text")[0];
    assert!(shown.trim_end() == table.trim_end(), "README.md must show this table:\n{table}");
}

#[test]
fn the_second_command_is_what_ci_runs() {
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(ci.lines().any(|line| line == commands()[1]), ".ci/run has no line `{}`", commands()[1]);
}

/// The name under which a link leads to this heading on GitHub: lower case, hyphens for spaces, and no other punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|&c| c.is_alphanumeric() || " -_".contains(c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Whether the page has a section of this name.
fn has_section(page: &Path, name: &str) -> bool {
    let text = fs::read_to_string(page).unwrap();
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    headings.any(|heading| anchor(heading.trim_start_matches('#')) == name)
}

#[test]
fn a_heading_is_linked_to_without_punctuation() {
    assert_eq!(anchor(" Slow start, and `m_SS`: (2009)"), "slow-start-and-m_ss-2009");
}

#[test]
fn links_lead_to_files_and_sections_that_exist() {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    pages.extend(["docs", "docs/controllers"].map(files).concat());
    for page in pages.iter().filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(page).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let (file, section) = link.split_once('#').unwrap_or((link, ""));
            let linked = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(linked.exists(), "{}: {link}", page.display());
            let is_page = linked.extension().is_some_and(|ending| ending == "md");
            assert!(
                !is_page || section.is_empty() || has_section(&linked, section),
                "{}: {link} leads to no section",
                page.display()
            );
        }
        // A name behind a slash is in another folder, such as that of a paper.
        let scenarios = text.match_indices("scenarios/").filter(|&(at, _)| !text[..at].ends_with('/'));
        let scenarios = scenarios.map(|(at, _)| &text[at..]);
        for name in scenarios.filter_map(|rest| Some(&rest[..rest.find(".toml")? + 5])) {
            let named = name.chars().all(|c| c.is_ascii_alphanumeric() || "/-.".contains(c));
            assert!(!named || root().join(name).exists(), "{}: {name}", page.display());
        }
    }
}

#[test]
fn the_pages_of_controllers_are_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    cargo_bin_cmd!("thalweg").args(["controllers", "--markdown"]).arg(folder.path()).assert().success().stdout("");
    let pages = |files: Vec<PathBuf>| -> BTreeMap<String, String> {
        let page = |file: &PathBuf| {
            (file.file_name().unwrap().to_str().unwrap().to_string(), fs::read_to_string(file).unwrap())
        };
        files.iter().map(page).collect()
    };
    let advice = "docs/controllers is out of date: cargo run --release -- controllers --markdown docs/controllers (and \
                  remove the page of a family that is gone)";
    assert!(pages(files("docs/controllers")) == pages(files(folder.path())), "{advice}");
}

/// The table of the routers' parameters and defaults is written by hand.
#[test]
fn the_parameters_of_routers_are_described() {
    let scenarios = fs::read_to_string(root().join("docs/scenarios.md")).unwrap();
    let section = scenarios.split("### Routers that take part").nth(1).expect("a section on routers");
    for router in control::routers::all() {
        let row = |name: &str| section.lines().find(|line| line.starts_with(&format!("| `\"{name}\"` |"))).unwrap();
        for (parameter, default) in router.defaults().as_object().unwrap() {
            let default = default.as_f64().map_or(format!("`{default}`"), |number| number.to_string());
            // RCP-AC's row refers to RCP's for the parameters that both have.
            let shared = ["interval", "initial-rate", "least-rate", "initial-rtt"].contains(&parameter.as_str());
            let name = if shared && router.name == "rcp-ac" { "rcp" } else { router.name };
            assert!(row(name).contains(&format!("`{parameter}`")), "{name}: {parameter} is missing");
            let small = default.parse::<f64>().is_ok_and(|number| number < 1e-3);
            assert!(small || row(name).contains(&default), "{name}: {parameter} is {default}");
        }
    }
}
