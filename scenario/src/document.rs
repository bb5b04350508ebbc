//! A scenario's text as a tree of values, and where in the text each of them stands.

use super::key_path::{KeyPath, Step};
use super::problem::{Place, Problem};
use super::set::{self, Set};
use super::wording;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use toml::de::{DeTable, DeValue};

/// A scenario's text, parsed, and what was laid over it since.
#[derive(Clone)]
pub(super) struct Document<'t> {
    name: &'t str,
    text: &'t str,
    spans: Rc<DeTable<'t>>,
    tree: Value,
    laid_over: Vec<(KeyPath, Origin)>,
}

/// Where a value came from that is not the file's own.
#[derive(Clone)]
enum Origin {
    /// The command line.
    Set,
    /// This element of `[sweep]`.
    Sweep(KeyPath),
}

/// Which part of `key = value` to point at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Key,
    Value,
}

impl<'t> Document<'t> {
    /// Parses `text`, which problems call `name`.
    pub fn parse(name: &'t str, text: &'t str) -> Result<Document<'t>, Vec<Problem>> {
        let syntax = |span: Option<Range<usize>>, message: &str| Problem {
            file: name.into(),
            place: span.map_or(Place::File, |span| place(text, span.start)),
            key: String::new(),
            message: format!("{}; correct the TOML here", message.trim_end().replace('\n', ", ")),
        };
        let spans = DeTable::parse(text).map_err(|e| vec![syntax(e.span(), e.message())])?.into_inner();
        let tree =
            plain(&DeValue::Table(spans.clone())).map_err(|(span, message)| vec![syntax(Some(span), &message)])?;
        Ok(Document { name, text, spans: Rc::new(spans), tree, laid_over: Vec::new() })
    }

    /// Lays a `--set` over the file.
    pub fn set(&mut self, set: &Set) -> Result<(), Vec<Problem>> {
        self.laid_over.push((set.path.clone(), Origin::Set));
        set::put(&mut self.tree, &set.path, set.value.clone())
            .map_err(|message| vec![self.problem(&set.path, format!("{message}; name a key of the scenario"))])
    }

    /// Lays a value of `[sweep]`, which stands at `element`, over the file.
    pub fn sweep(&mut self, path: &KeyPath, value: Value, element: KeyPath) -> Result<(), Vec<Problem>> {
        let result = set::put(&mut self.tree, path, value);
        result.map_err(|message| vec![self.problem(&element, format!("{message}; name a key of the scenario"))])?;
        self.laid_over.push((path.clone(), Origin::Sweep(element)));
        Ok(())
    }

    /// The file's name without folder and ending.
    pub fn file_stem(&self) -> &str {
        Path::new(self.name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(self.name)
    }

    /// The folder that the file is in.
    pub fn folder(&self) -> PathBuf {
        Path::new(self.name).parent().unwrap_or(Path::new("")).to_path_buf()
    }

    /// The value of a top-level key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.tree.get(key)
    }

    /// Forgets a top-level key; problems still know where it stands.
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
            // An unknown key is the last step already, a missing one is not.
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
        // What was laid over last holds; it also made the tables above it, if the file has none.
        let made = |laid: &KeyPath| laid.is_within(path) && !self.has(path);
        let origin = self.laid_over.iter().rev().find(|(laid, _)| path.is_within(laid) || made(laid));
        let origin = origin.map(|(_, origin)| origin);
        let place = match origin {
            Some(Origin::Set) => Place::Set,
            Some(Origin::Sweep(element)) => self.place(element, part),
            None => self.place(path, part),
        };
        Problem { file: self.name.into(), place, key: path.to_string(), message }
    }

    /// Whether the text has something at `path`.
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

    /// Where `path` stands in the text; if it is not there, the innermost table that could have it.
    fn place(&self, path: &KeyPath, part: Part) -> Place {
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
        place(self.text, start)
    }
}

/// Line and column of the byte at `offset`.
fn place(text: &str, offset: usize) -> Place {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = before.matches('\n').count() + 1;
    Place::At { line, column: before.get(line_start..).unwrap_or("").chars().count() + 1 }
}

/// A TOML value as plain data; dates become texts. Fails, saying where, on numbers that are out of range or no numbers.
pub(super) fn plain(value: &DeValue) -> Result<Value, (Range<usize>, String)> {
    let within = |value: &toml::Spanned<DeValue>| {
        plain(value.get_ref()).map_err(|(span, message)| (if span.is_empty() { value.span() } else { span }, message))
    };
    Ok(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => n.into(),
            Err(_) => return Err((0..0, format!("the number {n} is too large"))),
        },
        DeValue::Float(x) => match x.as_str().parse::<f64>().ok().and_then(serde_json::Number::from_f64) {
            Some(x) => Value::Number(x),
            None => return Err((0..0, format!("{x} is no finite number"))),
        },
        DeValue::Array(list) => Value::Array(list.iter().map(within).collect::<Result<_, _>>()?),
        DeValue::Table(table) => {
            let pair = |(key, value): (&toml::Spanned<std::borrow::Cow<str>>, _)| {
                Ok((key.get_ref().to_string(), within(value)?))
            };
            Value::Object(table.iter().map(pair).collect::<Result<Map<_, _>, _>>()?)
        }
    })
}
