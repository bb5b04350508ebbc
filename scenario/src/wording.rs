//! The words of error messages: serde's messages reworded for users, suggestions for misspelt names, and examples of
//! values.

/// An error of serde, reworded.
pub(super) struct SerdeError {
    /// What is wrong, a semicolon, and what to do.
    pub message: String,
    /// Whether the error is a key that does not exist.
    pub unknown_key: bool,
    /// The key that is missing, if that is the error.
    pub missing: Option<String>,
}

/// Rewords serde's `message`. Its texts are not part of serde's interface, but they change rarely, and tests hold ours.
/// A message that is not known here stays as it is.
pub(super) fn of_serde(message: &str) -> SerdeError {
    let mut said = SerdeError { message: message.to_string(), unknown_key: false, missing: None };
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

/// "there is no key `rte`; did you mean `rate`?", or the list of all known names if none of them is similar.
pub(super) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let list = known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
    let remedy = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "remove it".to_string(),
        None => format!("there is {list}"),
    };
    format!("there is no {what} `{name}`; {remedy}")
}

/// The known name that is most similar to `name`: by the number of characters inserted, deleted, replaced or
/// transposed. None if that number exceeds a third of the known name's length (2 for short names), or makes the whole
/// name.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    /// The length of a name, in characters, above which it is not compared: the comparison takes time and memory that
    /// grow with the product of the lengths.
    const LONGEST: usize = 64;
    if name.chars().count() > LONGEST {
        return None;
    }
    let distance = |known: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    let nearest = known.iter().copied().min_by_key(|known| distance(known))?;
    let length = nearest.chars().count();
    // A known name may be empty: it can come from the user, as the name of a link does.
    let most = (length / 3).max(2).min(length.saturating_sub(1));
    (distance(nearest) <= most).then_some(nearest)
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

/// What serde `expected`, in words that do not need knowledge of Rust.
fn plainly(expected: &str) -> String {
    match expected {
        "u64" | "usize" | "u32" | "u16" | "u8" => "a whole number, 0 or more".into(),
        "i64" | "i32" => "a whole number".into(),
        "f64" | "f32" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a string" => "a string in quotes".into(),
        "a sequence" => "a list in brackets, like [\"a\", \"b\"]".into(),
        "a map" => "a table".into(),
        "an array of length 2" | "fewer elements in array" => "a list of 2".into(),
        other if other.starts_with("struct ") || other.starts_with("internally tagged") => "a table".into(),
        other => other.into(),
    }
}

/// An example of the required key `key` and its value.
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
        "burst" => "burst = \"1 MB\"".into(),
        "correlation" => "correlation = \"50 ms\"".into(),
        "off" => "off = \"500 ms\"".into(),
        "uniform" => "uniform = [\"0 s\", \"20 s\"]".into(),
        key => format!("{key} = ..."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_recognised_and_an_unrelated_one_is_not() {
        for (name, known, expected) in [
            ("rte", &["rate", "rtt", "delay"][..], Some("rate")),
            ("bottlneck", &["a", "bottleneck"], Some("bottleneck")),
            ("x", &["rate", "a"], None),
            ("rate", &[], None),
            ("", &["rate"], None),
            ("a", &[""], None),
            ("", &[""], Some("")),
        ] {
            assert_eq!(nearest(name, known), expected, "{name} among {known:?}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), &["rate"]), None);
    }
}
