//! A scenario's text as a tree of values, and the line and column at which each of them stands.

use super::key_path::{KeyPath, Step};
use super::plain::plain;
use super::problem::{Location, Problem};
use super::set::{self, Set};
use super::wording;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use toml::de::{DeTable, DeValue};

/// A parsed scenario, with the values of `--set` and `[sweep]` in place of the file's own.
#[derive(Clone)]
pub(super) struct Document<'t> {
    /// What problems call the file.
    name: &'t str,
    text: &'t str,
    /// The file's own values, with their places in the text.
    spans: Rc<DeTable<'t>>,
    /// The values in effect.
    tree: Value,
    /// The keys that were changed since the text was parsed, in the order of the changes.
    changed: Vec<(KeyPath, Origin)>,
}

/// What changed a value of the file.
#[derive(Clone)]
enum Origin {
    /// A `--set` of the command line.
    Set,
    /// The element of `[sweep]` at this path.
    Sweep(KeyPath),
}

/// The part of `key = value` that a problem points at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The key.
    Key,
    /// The value.
    Value,
}

impl<'t> Document<'t> {
    /// Parses `text`, which problems call `name`.
    pub fn parse(name: &'t str, text: &'t str) -> Result<Document<'t>, Vec<Problem>> {
        let syntax = |span: Option<Range<usize>>, message: &str| Problem {
            file: name.into(),
            location: span.map_or(Location::File, |span| line_and_column(text, span.start)),
            key: String::new(),
            message: format!("{}; correct the TOML here", message.trim_end().replace('\n', ", ")),
        };
        let spans = DeTable::parse(text).map_err(|e| vec![syntax(e.span(), e.message())])?.into_inner();
        let tree =
            plain(&DeValue::Table(spans.clone())).map_err(|(span, message)| vec![syntax(Some(span), &message)])?;
        Ok(Document { name, text, spans: Rc::new(spans), tree, changed: Vec::new() })
    }

    /// Changes the value that a `--set` names.
    pub fn set(&mut self, set: &Set) -> Result<(), Vec<Problem>> {
        self.changed.push((set.path.clone(), Origin::Set));
        set::put(&mut self.tree, &set.path, set.value.clone())
            .map_err(|message| vec![self.problem(&set.path, format!("{message}; name a key of the scenario"))])
    }

    /// Changes the value at `path` to one of the values of `[sweep]`, the one at `element`.
    pub fn sweep(&mut self, path: &KeyPath, value: Value, element: KeyPath) -> Result<(), Vec<Problem>> {
        let result = set::put(&mut self.tree, path, value);
        result.map_err(|message| vec![self.problem(&element, format!("{message}; name a key of the scenario"))])?;
        self.changed.push((path.clone(), Origin::Sweep(element)));
        Ok(())
    }

    /// The file's name without its folder and its extension.
    pub fn file_stem(&self) -> &str {
        Path::new(self.name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(self.name)
    }

    /// The folder of the file.
    pub fn folder(&self) -> PathBuf {
        Path::new(self.name).parent().unwrap_or(Path::new("")).to_path_buf()
    }

    /// The values in effect.
    pub fn values(&self) -> &Value {
        &self.tree
    }

    /// The value of a top-level key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.tree.get(key)
    }

    /// Removes a top-level key from the values in effect. Problems with it can still be located.
    pub fn forget(&mut self, key: &str) {
        if let Some(tree) = self.tree.as_object_mut() {
            tree.shift_remove(key);
        }
    }

    /// Reads the whole tree as a `T`.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Vec<Problem>> {
        self.read_value(&KeyPath::default(), self.tree.clone())
    }

    /// Reads `value`, which stands at `path`, as a `T`.
    pub fn read_value<T: DeserializeOwned>(&self, path: &KeyPath, value: Value) -> Result<T, Vec<Problem>> {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let mut at = path.clone();
            at.0.extend(KeyPath::from(error.path()).0);
            let said = wording::of_serde(&error.inner().to_string());
            // Serde's path ends with an unknown key, but not with a missing one.
            let at = said.missing.map_or(at.clone(), |key| at.key(&key));
            vec![self.problem_at(&at, if said.unknown_key { Part::Key } else { Part::Value }, said.message)]
        })
    }

    /// A problem with the value at `path`.
    pub fn problem(&self, path: &KeyPath, message: String) -> Problem {
        self.problem_at(path, Part::Value, message)
    }

    /// A problem at `path`.
    pub fn problem_at(&self, path: &KeyPath, part: Part, message: String) -> Problem {
        // The last change of a value is in effect. A change also makes the tables above its key, unless the file has
        // them.
        let made = |changed: &KeyPath| changed.is_within(path) && !self.has(path);
        let last = self.changed.iter().rev().find(|(changed, _)| path.is_within(changed) || made(changed));
        let location = match last.map(|(_, origin)| origin) {
            Some(Origin::Set) => Location::Set,
            Some(Origin::Sweep(element)) => self.locate(element, part),
            None => self.locate(path, part),
        };
        Problem { file: self.name.into(), location, key: path.to_string(), message }
    }

    /// Whether the file itself has a value at `path`.
    fn has(&self, path: &KeyPath) -> bool {
        let mut steps = path.0.iter();
        let Some(Step::Key(first)) = steps.next() else { return true };
        let first = self.spans.get(first.as_str()).map(|value| value.get_ref());
        let found = steps.try_fold(first, |here, step| match (step, here?) {
            (Step::Key(key), DeValue::Table(table)) => Some(table.get(key.as_str()).map(|value| value.get_ref())),
            (Step::Index(index), DeValue::Array(list)) => Some(list.get(*index).map(|value| value.get_ref())),
            _ => None,
        });
        found.flatten().is_some()
    }

    /// Where `path` stands in the text. If the text does not have it: where the innermost table or list on the way
    /// begins.
    fn locate(&self, path: &KeyPath, part: Part) -> Location {
        let mut start = 0;
        let mut here: Option<&DeValue> = None;
        for (i, step) in path.0.iter().enumerate() {
            let last = i + 1 == path.0.len();
            let next = match (step, here) {
                (Step::Key(key), None) => self.spans.get_key_value(key.as_str()),
                (Step::Key(key), Some(DeValue::Table(table))) => table.get_key_value(key.as_str()),
                (Step::Index(index), Some(DeValue::Array(list))) => {
                    let Some(value) = list.get(*index) else { break };
                    start = value.span().start;
                    here = Some(value.get_ref());
                    continue;
                }
                _ => None,
            };
            let Some((key, value)) = next else { break };
            start = if last && part == Part::Key { key.span().start } else { value.span().start };
            here = Some(value.get_ref());
        }
        line_and_column(self.text, start)
    }
}

/// Line and column of the byte at `offset`.
fn line_and_column(text: &str, offset: usize) -> Location {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = before.matches('\n').count() + 1;
    Location::At { line, column: before.get(line_start..).unwrap_or("").chars().count() + 1 }
}
