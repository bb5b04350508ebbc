//! `thalweg controllers`.

use crate::failure::Failure;
use crate::print;
use control::registry;
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
    let recovery = controller.recovery;
    let _ = writeln!(
        text,
        "Loss recovery: {}",
        serde_json::to_value(recovery).ok().as_ref().and_then(Value::as_str).unwrap_or("")
    );
    let none = serde_json::Map::new();
    let parameters = controller.defaults().as_object().unwrap_or(&none);
    if !parameters.is_empty() {
        let _ = writeln!(text, "\nParameters, with their defaults, for [controller.{name}] in a scenario:");
    }
    for (parameter, default) in parameters {
        let _ = writeln!(text, "\n  {parameter} = {default}");
        let described = controller.schema().pointer(&format!("/properties/{parameter}/description"));
        for line in described.and_then(Value::as_str).unwrap_or("").lines() {
            let _ = writeln!(text, "      {line}");
        }
    }
    print::text(&text)
}
