//! The JSON Schema of scenario files, for editors.

use super::keys::Scenario;
use control::registry;
use schemars::Schema;
use serde_json::{Value, json};

/// The JSON Schema of a scenario file, with all controllers and their parameters.
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(Scenario);
    let names: Vec<&str> = registry::all().iter().map(|c| c.name).collect();
    let mut parameters = serde_json::Map::new();
    for controller in registry::all() {
        let mut of = controller.schema().as_value().clone();
        let Some(table) = of.as_object_mut() else { continue };
        // No parameter is required: a scenario gives only those that differ from the defaults.
        table.remove("required");
        table.remove("$schema");
        table.insert("description".into(), format!("{} ({})", controller.summary, controller.source).into());
        table.insert("additionalProperties".into(), false.into());
        if let Some(Value::Object(definitions)) = table.remove("$defs")
            && let Some(all) = schema.ensure_object().entry("$defs").or_insert(json!({})).as_object_mut()
        {
            for (name, definition) in definitions {
                all.entry(name).or_insert(definition);
            }
        }
        parameters.insert(controller.name.into(), of);
    }
    for (pointer, key, value) in [
        ("/properties/controller", "properties", Value::Object(parameters)),
        ("/properties/controller", "additionalProperties", false.into()),
        ("/$defs/Compare/properties/controllers/items", "enum", json!(names)),
        ("/$defs/Flow/properties/controller", "enum", json!(names)),
    ] {
        if let Some(Value::Object(at)) = schema.pointer_mut(pointer) {
            at.insert(key.into(), value);
        }
    }
    schema
}
