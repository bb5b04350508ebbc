//! Controllers that a program adds to the registry.

use serde_json::{Map, Value, json};
use thalweg_control::registry::{self, ParameterError};
use thalweg_control::{Bytes, Conditions, Controller, Family};

/// Reno under another name, with a parameter of its own.
fn named(name: &'static str, summary: &'static str) -> Controller {
    let Value::Object(defaults) = json!({ "gain": 2 }) else { panic!("an object") };
    Controller::made_by(name, Family::LossWindow, "a test", summary, defaults, |parameters, host| {
        parameters["gain"].as_u64().filter(|&gain| gain < 10).ok_or("gain is too large; write one below 10")?;
        let reno = registry::find("reno").ok_or("there is no reno")?;
        reno.factory(reno.defaults(), host)
    })
}

#[test]
fn an_added_controller_is_one_of_all_until_a_later_one_takes_its_place() {
    let ours = registry::all().len();
    registry::add(named("mine", "the first")).unwrap();
    registry::add(named("mine", "the second")).unwrap();
    assert_eq!(registry::all().len(), ours + 1);
    let mine = registry::find("mine").unwrap();
    assert_eq!(mine.summary, "the second");
    let parameters = mine.parameters(&Map::new()).unwrap();
    assert!(mine.build(&parameters, &Conditions::exact(Bytes(1000))).is_ok());
    let wrong = |json: Value| mine.parameters(json.as_object().unwrap()).unwrap_err();
    assert!(matches!(wrong(json!({ "gain": 20 })), ParameterError::Bad { name, .. } if name == "gain"));
    assert!(matches!(wrong(json!({ "pain": 1 })), ParameterError::Unknown { name, .. } if name == "pain"));
    assert!(registry::add(named("cubic", "")).unwrap_err().contains("there is a controller `cubic` already"));
}
