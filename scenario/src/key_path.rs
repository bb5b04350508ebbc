//! The path to a key of a scenario: `flow[2].start`.

use serde_path_to_error::{Path, Segment};
use std::fmt;

/// The path from a scenario's top to one of its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPath(pub(super) Vec<Step>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To this key of a table.
    Key(String),
    /// To this element of a list, counted from 0.
    Index(usize),
}

impl KeyPath {
    /// The most steps that a path given by the user may have. No key of a scenario is as deep; the bound keeps `--set`
    /// from making deeply nested tables.
    const DEEPEST: usize = 16;

    /// Reads `flow[2].start`, `flow.2.start` or `sweep."path.rate"`. A step that is a bare number is an index.
    ///
    /// # Errors
    /// What is wrong with the path, and an example of one.
    pub fn parse(text: &str) -> Result<KeyPath, String> {
        let bad = |why: &str| format!("`{text}` is not a key ({why}); write one like path.rate or flow[0].start");
        let mut steps = Vec::new();
        let mut rest = text.trim();
        loop {
            if let Some(quoted) = rest.strip_prefix('"') {
                let (key, after) = quoted.split_once('"').ok_or_else(|| bad("a quote is not closed"))?;
                steps.push(Step::Key(key.to_string()));
                rest = after;
            } else {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                let name = name.trim();
                if name.is_empty() {
                    return Err(bad("a name is empty"));
                }
                steps.push(name.parse().map_or_else(|_| Step::Key(name.to_string()), Step::Index));
                rest = after;
            }
            while let Some(indexed) = rest.strip_prefix('[') {
                let (index, after) = indexed.split_once(']').ok_or_else(|| bad("a bracket is not closed"))?;
                steps.push(Step::Index(index.trim().parse().map_err(|_| bad("an index is not a whole number"))?));
                rest = after;
            }
            if steps.len() > KeyPath::DEEPEST {
                return Err(bad("it has too many steps"));
            }
            match rest.strip_prefix('.') {
                Some(after) => rest = after,
                None if rest.trim().is_empty() => return Ok(KeyPath(steps)),
                None => return Err(bad("a dot is missing")),
            }
        }
    }

    /// The path of a top-level key.
    pub(super) fn of(name: &str) -> KeyPath {
        KeyPath::default().key(name)
    }

    /// The path of this table's key `name`.
    pub(super) fn key(&self, name: &str) -> KeyPath {
        self.step(Step::Key(name.to_string()))
    }

    /// The path of this list's element `index`.
    pub(super) fn index(&self, index: usize) -> KeyPath {
        self.step(Step::Index(index))
    }

    fn step(&self, step: Step) -> KeyPath {
        let mut steps = self.0.clone();
        steps.push(step);
        KeyPath(steps)
    }

    /// Whether `self` is `other` or lies below it.
    pub(super) fn is_within(&self, other: &KeyPath) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl From<&Path> for KeyPath {
    fn from(path: &Path) -> KeyPath {
        let step = |segment: &Segment| match segment {
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Map { key } => Some(Step::Key(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        };
        KeyPath(path.iter().map_while(step).collect())
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    let dot = if i == 0 { "" } else { "." };
                    let bare = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
                    if bare { write!(f, "{dot}{key}")? } else { write!(f, "{dot}\"{key}\"")? }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_displayed_path_is_the_path_that_was_read() {
        for (text, shown) in [
            ("path.rate", "path.rate"),
            ("flow[2].start", "flow[2].start"),
            ("flow.2.start", "flow[2].start"),
            ("sweep.\"path.rate\"[1]", "sweep.\"path.rate\"[1]"),
            ("  seed ", "seed"),
        ] {
            assert_eq!(KeyPath::parse(text).unwrap().to_string(), shown);
        }
        for text in ["", ".", "a..b", "flow[", "flow[x]", "flow[0]x", "\"a", &"a.".repeat(99)] {
            assert!(KeyPath::parse(text).unwrap_err().contains("path.rate"), "{text}");
        }
    }
}
