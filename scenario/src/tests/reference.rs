//! What the documentation says of keys: docs/scenarios.md names all of them, and CONTRIBUTING.md shows how to add one.

use super::*;
use serde_json::Value;

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
