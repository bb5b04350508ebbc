//! Parameters that differ from their defaults.

use serde_json::{Map, Value};

/// What is wrong with the parameters given for a controller or a router protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterError {
    /// There is no such parameter.
    Unknown {
        /// The name that was given.
        name: String,
        /// The names of all parameters.
        known: Vec<String>,
    },
    /// One value is invalid by itself.
    Bad {
        /// The parameter's name.
        name: String,
        /// Why its value is invalid.
        problem: String,
    },
    /// Each value is valid by itself, but they contradict each other.
    Together {
        /// What contradicts what.
        problem: String,
    },
}

/// `defaults` with `overrides` laid over them. Fails if a name is not among the defaults, or if `check` refuses the
/// result.
pub(super) fn overlay(
    defaults: &Value,
    overrides: &Map<String, Value>,
    check: &dyn Fn(&Value) -> Result<(), String>,
) -> Result<Value, ParameterError> {
    let mut all = defaults.clone();
    let known = all.as_object_mut().expect("parameters are a struct");
    for (name, value) in overrides {
        match known.get_mut(name) {
            Some(slot) => *slot = value.clone(),
            None => {
                let known = known.keys().cloned().collect();
                return Err(ParameterError::Unknown { name: name.clone(), known });
            }
        }
    }
    let Err(problem) = check(&all) else { return Ok(all) };
    // Name the parameter to which the problem is due, if the same problem occurs when it alone is overridden.
    for (name, value) in overrides {
        let mut one = defaults.clone();
        one[name] = value.clone();
        if check(&one).as_ref() == Err(&problem) {
            return Err(ParameterError::Bad { name: name.clone(), problem });
        }
    }
    Err(ParameterError::Together { problem })
}
