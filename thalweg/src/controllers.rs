//! `thalweg controllers`.

use crate::failure::Failure;
use crate::print;
use control::{Controller, Family, Recovery, registry};
use scenario::reason;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// Lists all controllers, family by family.
pub fn list() -> Result<(), Failure> {
    let width = registry::all().iter().map(|c| c.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for family in families() {
        let _ = writeln!(text, "{}: {}", family.name(), family.summary());
        for controller in family.controllers() {
            let _ = writeln!(text, "  {:width$}  {} [{}]", controller.name, controller.summary, controller.source);
        }
        text += "\n";
    }
    print::text(&text)
}

/// Describes the controller `name`.
pub fn describe(name: &str) -> Result<(), Failure> {
    let controller = scenario::controller(name).map_err(|why| Failure::Wrong(vec![format!("{name}: {why}")]))?;
    let mut text = format!("{}: {}\nSource: {}\n", controller.name, controller.summary, controller.source);
    let _ = writeln!(text, "Family: {}", controller.family.name());
    let _ = writeln!(text, "Loss recovery: {}", recovery(controller));
    let _ = writeln!(text, "ECN: {}", controller.ecn.name());
    let parameters = parameters(controller);
    if !parameters.is_empty() {
        let _ = writeln!(text, "\nParameters, with their defaults, for [controller.{name}] in a scenario:");
    }
    for (parameter, default, description) in parameters {
        let _ = writeln!(text, "\n  {parameter} = {default}");
        for line in description.lines() {
            let _ = writeln!(text, "      {line}");
        }
    }
    print::text(&text)
}

/// Describes all controllers in Markdown: a page per family, and an index, in `folder`.
pub fn markdown(folder: &Path) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("README.md"), index())?;
        families().try_for_each(|family| fs::write(folder.join(format!("{}.md", family.name())), page(family)))
    };
    write().map_err(|e| {
        let why = format!("cannot be written ({}); name another folder", reason(&e));
        Failure::Wrong(vec![format!("--markdown {}: {why}", folder.display())])
    })
}

/// The index: all controllers, by family.
fn index() -> String {
    let mut text = String::from(INDEX);
    for family in families() {
        let name = family.name();
        let _ = writeln!(text, "\n## [{name}]({name}.md)\n\n{}.\n", sentence(family.summary()));
        text += "| controller | what it does | source |\n|---|---|---|\n";
        for Controller { name: controller, summary, source, .. } in family.controllers() {
            let _ = writeln!(text, "| [`{controller}`]({name}.md#{controller}) | {summary} | {source} |");
        }
    }
    text
}

const INDEX: &str = "\
# Controllers

The controllers that `[compare]` and `[[flow]]` accept. A scenario changes a controller's parameters in `[controller.NAME]`.

These pages are made from the code: `cargo run --release -- controllers --markdown docs/controllers`.
";

/// The page of one family.
fn page(family: Family) -> String {
    let mut text = format!("# {}\n\n{}.\n", sentence(family.name()), sentence(family.summary()));
    for controller in family.controllers() {
        let _ = writeln!(text, "\n## {}\n\n{}.\n", controller.name, sentence(controller.summary));
        let _ = writeln!(
            text,
            "Source: {}. Loss recovery: `{}`. ECN: `{}`.",
            controller.source,
            recovery(controller),
            controller.ecn.name()
        );
        for (i, (parameter, default, description)) in parameters(controller).into_iter().enumerate() {
            if i == 0 {
                text += "\n| parameter | default | meaning |\n|---|---|---|\n";
            }
            let description = description.replace('\n', " ").replace('|', "\\|");
            let _ = writeln!(text, "| `{parameter}` | `{default}` | {description} |");
        }
    }
    text
}

/// `text` with a capital first letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// The families that have a controller.
fn families() -> impl Iterator<Item = Family> {
    Family::ALL.into_iter().filter(|family| family.controllers().next().is_some())
}

/// Name, default and description of each parameter.
fn parameters(controller: &Controller) -> Vec<(&str, &Value, &str)> {
    let described = |parameter: &str| {
        let description = controller.schema().pointer(&format!("/properties/{parameter}/description"));
        description.and_then(Value::as_str).unwrap_or_default()
    };
    let defaults = controller.defaults().as_object().into_iter().flatten();
    defaults.map(|(parameter, default)| (parameter.as_str(), default, described(parameter))).collect()
}

/// How losses are repaired, as a scenario writes it.
fn recovery(controller: &Controller) -> &'static str {
    match controller.recovery {
        Recovery::Sack => "sack",
        Recovery::RackTlp => "rack-tlp",
        Recovery::NewReno => "newreno",
    }
}
