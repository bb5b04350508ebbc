//! Serde's messages in our words: what is wrong; what to do.

/// What serde said.
pub(super) struct Said {
    /// What is wrong; what to do.
    pub message: String,
    /// It does not know a key.
    pub unknown_key: bool,
    /// It misses this key.
    pub missing: Option<String>,
}

/// Puts serde's `message` in our words. Its texts are stable in practice, and tests hold ours; one that is not known stays as
/// it is.
pub(super) fn of_serde(message: &str) -> Said {
    let mut said = Said { message: message.to_string(), unknown_key: false, missing: None };
    if let Some((name, known)) = between(message, "unknown field `", "`, ") {
        said.message = unknown("key", name, &quoted(known));
        said.unknown_key = true;
    } else if let Some((name, known)) = between(message, "unknown variant `", "`, ") {
        said.message = unknown("choice", name, &quoted(known));
    } else if let Some((name, _)) = between(message, "missing field `", "`") {
        said.message = format!("is missing; write {}", example(name));
        said.missing = Some(name.to_string());
    } else {
        for prefix in ["invalid type: ", "invalid value: ", "invalid length "] {
            if let Some((got, expected)) = between(message, prefix, ", expected ") {
                let got = if prefix == "invalid length " { format!("a list of {got}") } else { got.to_string() };
                said.message = format!("{got} does not fit here; write {}", plainly(expected));
            }
        }
    }
    if !said.message.contains(';') && said.message.ends_with("is too large") {
        said.message += "; write less";
    }
    said
}

/// "there is no such key as `rte`; did you mean `rate`?", and the whole list if nothing is near or the list is short.
pub(super) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let list = known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
    let remedy = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "remove it".to_string(),
        None => format!("there is {list}"),
    };
    format!("there is no {what} `{name}`; {remedy}")
}

/// The name that was probably meant.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let distance = |k: &&&str| strsim::damerau_levenshtein(&name.to_lowercase(), &k.to_lowercase());
    let long = name.chars().count() > 64;
    let near = if long { None } else { known.iter().min_by_key(distance) };
    near.filter(|k| distance(k) <= (k.chars().count() / 3).max(2).min(k.chars().count() - 1)).copied()
}

/// "1 run", "2 runs".
pub(super) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The parts of `prefix A middle B`.
fn between<'m>(message: &'m str, prefix: &str, middle: &str) -> Option<(&'m str, &'m str)> {
    message.strip_prefix(prefix)?.split_once(middle)
}

/// The names between backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Rust's names for types, in the words of someone who writes a scenario.
fn plainly(expected: &str) -> String {
    match expected {
        "u64" | "usize" | "u32" | "u16" | "u8" => "a whole number, 0 or more".into(),
        "i64" | "i32" => "a whole number".into(),
        "f64" | "f32" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a string" => "a text in quotes".into(),
        "a sequence" => "a list in brackets, like [\"a\", \"b\"]".into(),
        "a map" => "a table".into(),
        "an array of length 2" | "fewer elements in array" => "a list of 2".into(),
        other if other.starts_with("struct ") || other.starts_with("internally tagged") => "a table".into(),
        other => other.into(),
    }
}

/// How to write a key that must not be missing.
pub(super) fn example(key: &str) -> String {
    match key {
        "duration" => "duration = \"60 s\", how long to simulate, at the top".into(),
        "rate" => "rate = \"1 Gbps\"".into(),
        "rtt" => "rtt = \"100 ms\"".into(),
        "buffer" => "buffer = \"1 bdp\", or \"750 packets\", or \"9 MB\"".into(),
        "delay" => "delay = \"10 ms\"".into(),
        "name" => "name = \"first\", for routes to name".into(),
        "controllers" => "controllers = [\"rapid\", \"bic\"]".into(),
        "kind" => "kind = \"cbr\"".into(),
        "size" => "size = \"30 kB\"".into(),
        "on" => "on = \"500 ms\"".into(),
        "off" => "off = \"500 ms\"".into(),
        "uniform" => "uniform = [\"0 s\", \"20 s\"]".into(),
        key => format!("{key} = ..."),
    }
}
