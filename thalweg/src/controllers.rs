//! `thalweg controllers`.

use crate::failure::Failure;
use crate::print;
use control::{Controller, Recovery, registry};
use lab::scenario;
use serde_json::Value;
use std::fmt::Write;

/// Lists all controllers.
pub fn list() -> Result<(), Failure> {
    let width = registry::all().iter().map(|c| c.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for controller in registry::all() {
        let _ = writeln!(text, "{:width$}  {} [{}]", controller.name, controller.summary, controller.source);
    }
    print::text(&text)
}

/// Describes the controller `name`.
pub fn describe(name: &str) -> Result<(), Failure> {
    let controller = scenario::controller(name).map_err(|why| Failure::Wrong(vec![format!("{name}: {why}")]))?;
    let mut text = format!("{}: {}\nSource: {}\n", controller.name, controller.summary, controller.source);
    let _ = writeln!(text, "Loss recovery: {}", recovery(controller));
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

/// Describes all controllers, as Markdown.
pub fn markdown() -> Result<(), Failure> {
    let mut text = String::from(MARKDOWN);
    for controller in registry::all() {
        let _ = writeln!(text, "\n## {}\n\n{}.\n", controller.name, controller.summary);
        let _ = writeln!(text, "Source: {}. Loss recovery: `{}`.", controller.source, recovery(controller));
        for (i, (parameter, default, description)) in parameters(controller).into_iter().enumerate() {
            if i == 0 {
                text += "\n| parameter | default | meaning |\n|---|---|---|\n";
            }
            let description = description.replace('\n', " ").replace('|', "\\|");
            let _ = writeln!(text, "| `{parameter}` | `{default}` | {description} |");
        }
    }
    print::text(&text)
}

const MARKDOWN: &str = "\
# Controllers

What `[compare]` and `[[flow]]` may name. A scenario gives a controller other parameters in `[controller.NAME]`.

This page is made from the code: `cargo run --release -- controllers --markdown > docs/controllers.md`.
";

/// Name, default and description of each of its parameters.
fn parameters(controller: &Controller) -> Vec<(&str, &Value, &str)> {
    let described = |parameter: &str| {
        let description = controller.schema().pointer(&format!("/properties/{parameter}/description"));
        description.and_then(Value::as_str).unwrap_or_default()
    };
    let defaults = controller.defaults().as_object().into_iter().flatten();
    defaults.map(|(parameter, default)| (parameter.as_str(), default, described(parameter))).collect()
}

/// How its losses are repaired, as a scenario would write it.
fn recovery(controller: &Controller) -> &'static str {
    match controller.recovery {
        Recovery::Sack => "sack",
        Recovery::NewReno => "newreno",
    }
}
