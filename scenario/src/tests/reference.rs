//! What the documentation says of keys: docs/scenarios.md names all of them and describes the parameters of queues, and
//! CONTRIBUTING.md shows how to add a key.

use super::*;
use control::{Bytes, Duration, Rate};
use path::queue::registry;
use serde_json::Value;
use std::str::FromStr;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Adds the names of the keys in `schema` and in the tables below it to `names`, but not the parameters of queues and
/// controllers.
fn collect_keys(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(table) => {
            if let Some(Value::Object(properties)) = table.get("properties") {
                names.extend(properties.keys().cloned());
            }
            for (name, inner) in table {
                if !matches!(name.as_str(), "controller" | "queue" | "Queue") {
                    collect_keys(inner, names);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| collect_keys(inner, names)),
        _ => {}
    }
}

#[test]
fn the_reference_names_every_key() {
    let reference = include_str!("../../../docs/scenarios.md");
    let mut names = Vec::new();
    collect_keys(schema().as_value(), &mut names);
    assert!(names.len() > 50);
    for name in names {
        let forms =
            [format!("`{name}`"), format!(".{name}`"), format!("{name} = "), format!("`{name}."), format!("[{name}]")];
        assert!(forms.iter().any(|form| reference.contains(form)), "docs/scenarios.md does not name `{name}`");
    }
}

/// The table of the disciplines' parameters and defaults is written by hand. A row may refer to that of another
/// discipline for the parameters that both have.
#[test]
fn the_reference_describes_the_parameters_of_every_queue_discipline() {
    let reference = include_str!("../../../docs/scenarios.md");
    let section = reference.split("\n## Queues\n").nth(1).expect("a section on queues");
    let section = section.split("\n### ").next().unwrap();
    let row = |name: &str| section.lines().find(|line| line.starts_with(&format!("| `\"{name}\"` |")));
    for discipline in registry::all() {
        let name = discipline.name;
        let own = row(name).unwrap_or_else(|| panic!("docs/scenarios.md has no row for the queue `{name}`"));
        let other = own.split_once("those of `\"").and_then(|(_, rest)| row(rest.split('"').next()?));
        let text = format!("{own};{}", other.unwrap_or_default());
        for (parameter, default) in discipline.defaults().as_object().unwrap() {
            let (_, said) = text
                .split_once(&format!("`{parameter}`: "))
                .unwrap_or_else(|| panic!("{name}: docs/scenarios.md lacks `{parameter}`"));
            let word = said.split([';', ' ', ',', '|']).next().unwrap();
            let described = match default {
                Value::Null => !word.is_empty(), // Words say how the value follows from the link.
                Value::String(default) => said.split('"').nth(1).is_some_and(|said| is_same_text(said, default)),
                Value::Number(default) => word.parse::<f64>().ok() == default.as_f64(),
                _ => default.to_string().as_str() == word,
            };
            assert!(described, "{name}: docs/scenarios.md does not say that `{parameter}` is {default} by default");
        }
    }
}

/// Whether both texts mean the same, as "1514 B" and "1.514 kB" do.
fn is_same_text(one: &str, other: &str) -> bool {
    fn is_same<T: FromStr + PartialEq>(one: &str, other: &str) -> bool {
        one.parse::<T>().is_ok_and(|one| other.parse::<T>().is_ok_and(|other| one == other))
    }
    one == other || is_same::<Duration>(one, other) || is_same::<Bytes>(one, other) || is_same::<Rate>(one, other)
}

#[test]
fn contributing_shows_how_the_key_jitter_was_added() {
    let contributing = include_str!("../../../CONTRIBUTING.md");
    let section = contributing.split("## Add a scenario key\n").nth(1).expect("a section on keys");
    let section = section.split("\n## ").next().unwrap();
    let steps: Vec<&str> = section.split("```rust\n").collect();
    assert!(steps.len() > 3);
    for pair in steps.windows(2) {
        // The text before each example names the file that the example is from, last of all.
        let file = pair[0].split('`').rfind(|quoted| quoted.ends_with(".rs")).expect("a file");
        let text = std::fs::read_to_string(format!("{ROOT}/{file}")).expect(file);
        let example = pair[1].split("```").next().unwrap();
        for line in example.lines() {
            assert!(text.contains(line.trim()), "{file} does not have the line `{line}`");
        }
    }
}
