//! All queue disciplines by name, as [`control::routers`] has the router protocols: the one place from which links,
//! scenario files and reports take their list.
//!
//! To add a discipline, write its file and add it to [`list`].

use super::buffer::Buffer;
use super::discipline::{Mistake, Queue, Queueing, Site};
use crate::Packet;
use control::{Bytes, Rate};
use schemars::Schema;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// One queue discipline.
pub struct QueueDiscipline {
    /// What scenarios call it.
    pub name: &'static str,
    /// What reports call it.
    pub title: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    defaults: Value,
    schema: Schema,
    check: fn(&Value, &Site) -> Result<Vec<Mistake>, String>,
}

impl QueueDiscipline {
    /// All parameters with their defaults: an object of names and values, times and sizes as texts with units. Null
    /// stands for a value that follows from the link.
    pub fn defaults(&self) -> &Value {
        &self.defaults
    }

    /// The parameters' names.
    pub fn parameters(&self) -> Vec<&str> {
        self.defaults.as_object().map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    /// The parameters' JSON Schema, with their descriptions.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The queue at `site` with `given` parameters in place of the defaults.
    ///
    /// # Errors
    /// What is wrong with the values. A name that is not among [`QueueDiscipline::parameters`] is a mistake, too.
    pub fn setup(&self, given: &Map<String, Value>, site: &Site) -> Result<QueueSetup, Vec<Mistake>> {
        let mut parameters = self.defaults.clone();
        let mut mistakes = Vec::new();
        for (key, value) in given {
            let mut wrong = |problem| mistakes.push(Mistake { key: key.clone(), problem });
            if parameters.get(key).is_none() {
                wrong("is no parameter of this queue; remove it".into());
                continue;
            }
            // Alone, so that the mistake is known to be this parameter's.
            let mut alone = self.defaults.clone();
            alone[key] = value.clone();
            match (self.check)(&alone, site) {
                Ok(_) => parameters[key] = value.clone(),
                Err(problem) => wrong(problem),
            }
        }
        if mistakes.is_empty() {
            mistakes =
                (self.check)(&parameters, site).unwrap_or_else(|problem| vec![Mistake { key: String::new(), problem }]);
        }
        if mistakes.is_empty() {
            Ok(QueueSetup { discipline: self.name.into(), parameters, packet: site.packet })
        } else {
            Err(mistakes)
        }
    }
}

/// The description of a queue as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSetup {
    /// The name of one of [`all`].
    pub discipline: String,
    /// All of its parameters, from [`QueueDiscipline::setup`].
    pub parameters: Value,
    /// Size of a full packet on the link, from which some disciplines derive parameters that are not given.
    pub packet: Bytes,
}

impl Default for QueueSetup {
    /// First in, first out, with a limit.
    fn default() -> QueueSetup {
        QueueSetup { discipline: DROP_TAIL.into(), parameters: Value::Object(Map::new()), packet: Bytes(1000) }
    }
}

/// The name of the discipline that a link has without any other.
const DROP_TAIL: &str = "droptail";

impl QueueSetup {
    /// Whether the queue is first in, first out, with a limit and nothing else.
    pub fn is_drop_tail(&self) -> bool {
        self.discipline == DROP_TAIL
    }

    /// An empty queue at a link of `rate` that holds `buffer`. Everything random in it follows from `seed`.
    ///
    /// # Errors
    /// If there is no such discipline, or if it does not take the parameters.
    pub fn build<P: Packet>(&self, rate: Rate, buffer: Buffer, seed: u64) -> Result<Box<dyn Queue<P>>, String> {
        let site = Site { rate, buffer, packet: self.packet };
        let mut build = Build { setup: self, site, seed, built: None };
        list(&mut build);
        build.built.unwrap_or_else(|| Err(format!("there is no queue discipline `{}`", self.discipline)))
    }
}

/// A visitor of all disciplines: [`list`] calls `add` once for each. A list of values cannot take its place: [`Queue`]
/// is generic over the packet, so that a discipline makes a queue for a type of packet only where its own type is
/// known.
trait Disciplines {
    /// Visits the next discipline. `D` is the type of its parameters; the arguments are the fields of
    /// [`QueueDiscipline`].
    fn add<D: Queueing>(
        &mut self,
        name: &'static str,
        title: &'static str,
        source: &'static str,
        summary: &'static str,
    );
}

/// Every queue discipline, in the order in which to list them: a new one goes behind those that it extends or
/// resembles, or to the end.
fn list(all: &mut impl Disciplines) {
    all.add::<super::droptail::Parameters>(
        DROP_TAIL,
        "DropTail",
        "RFC 7567",
        "first in, first out; what finds the buffer full is dropped",
    );
    all.add::<super::red::Parameters>(
        "red",
        "RED",
        "Floyd and Jacobson, IEEE/ACM ToN 1(4)",
        "random early detection, with the gentle slope",
    );
    all.add::<super::red::AdaptiveParameters>(
        "ared",
        "adaptive RED",
        "Floyd, Gummadi and Shenker, 2001",
        "RED that adapts the probability of drops to the average queue",
    );
    all.add::<super::codel::Parameters>(
        "codel",
        "CoDel",
        "RFC 8289",
        "controlled delay: drops while packets wait too long",
    );
    all.add::<super::fq_codel::Parameters>(
        "fq-codel",
        "FQ-CoDel",
        "RFC 8290",
        "a queue per flow; the queues take turns, with CoDel in each",
    );
    all.add::<super::pie::Parameters>(
        "pie",
        "PIE",
        "RFC 8033",
        "a proportional integral controller of the delay sets the probability of drops",
    );
    all.add::<super::dualpi2::Parameters>(
        "dualpi2",
        "DualPI2",
        "RFC 9332",
        "a queue for L4S and one for other traffic, which share the link by coupled marks and drops",
    );
    all.add::<super::policer::Parameters>(
        "policer",
        "policer",
        "Flach et al., SIGCOMM 2016",
        "a token bucket: drops what exceeds a rate, however empty the link is",
    );
}

/// The visitor that collects the descriptions of the disciplines, which do not depend on the type of packet.
struct Collect(Vec<QueueDiscipline>);

impl Disciplines for Collect {
    fn add<D: Queueing>(
        &mut self,
        name: &'static str,
        title: &'static str,
        source: &'static str,
        summary: &'static str,
    ) {
        self.0.push(QueueDiscipline {
            name,
            title,
            source,
            summary,
            defaults: serde_json::to_value(D::default()).expect("parameters are plain data"),
            schema: schemars::schema_for!(D),
            check: |parameters, site| Ok(D::deserialize(parameters).map_err(|e| e.to_string())?.check(site)),
        });
    }
}

/// The visitor that builds a queue of the discipline that `setup` names, for packets of type `P`.
struct Build<'s, P> {
    setup: &'s QueueSetup,
    site: Site,
    seed: u64,
    built: Option<Result<Box<dyn Queue<P>>, String>>,
}

impl<P: Packet> Disciplines for Build<'_, P> {
    fn add<D: Queueing>(&mut self, name: &'static str, _: &'static str, _: &'static str, _: &'static str) {
        if name == self.setup.discipline {
            let parameters = D::deserialize(&self.setup.parameters).map_err(|e| e.to_string());
            self.built = Some(parameters.map(|parameters| parameters.queue(&self.site, self.seed)));
        }
    }
}

/// Every queue discipline, in the order in which to list them.
pub fn all() -> &'static [QueueDiscipline] {
    static ALL: LazyLock<Vec<QueueDiscipline>> = LazyLock::new(|| {
        let mut all = Collect(Vec::new());
        list(&mut all);
        all.0
    });
    &ALL
}

/// The queue discipline of that name.
pub fn find(name: &str) -> Option<&'static QueueDiscipline> {
    all().iter().find(|discipline| discipline.name == name)
}

#[cfg(test)]
mod tests;
