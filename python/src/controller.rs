//! Controllers in Python: objects whose methods are the calls of [`Sender`].
//!
//! Times are seconds, sizes bytes and rates bits per second, as Python's numbers. A float holds a time of up to an hour
//! to the picosecond. An exception in a method ends the run and becomes its error. A run with such a controller is made
//! on one thread, which holds Python's lock; Python itself lets other threads have it between the methods' lines.

use control::registry::{self, Controller, Parties};
use control::{Ack, Bytes, Conditions, Family, Loss, Next, Phase, Pipe, Rate, Sender, Stamp, State, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use serde_json::{Map, Value};
use std::cell::RefCell;

/// The source of controllers that were added here.
const SOURCE: &str = "Python";

thread_local! {
    /// The first exception of a controller on this thread since the last [`raised`].
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether a controller on this thread has raised an exception.
pub fn has_raised() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// The first exception of a controller on this thread since the last call.
pub fn raised() -> Option<PyErr> {
    RAISED.take()
}

/// Notes an exception.
fn note(error: PyErr) {
    RAISED.with_borrow_mut(|first| {
        first.get_or_insert(error);
    });
}

/// Whether `plan` has a run with a controller in Python.
pub fn is_in(plan: &scenario::Plan) -> bool {
    let is_python = |name: &str| registry::find(name).is_some_and(|controller| controller.source == SOURCE);
    plan.runs.iter().map(|run| &run.experiment).any(|experiment| {
        experiment.flows.iter().any(|flow| is_python(&flow.controller))
            || experiment.workloads.iter().any(|workload| is_python(&workload.controller))
    })
}

/// Adds the controller `name`, which `make` makes. `defaults`: a JSON object of the parameters and their default
/// values. `make` is called once per flow, with what its host can do and the parameters as keywords.
#[pyfunction]
pub fn register(name: String, summary: String, defaults: &str, make: Py<PyAny>) -> PyResult<()> {
    let defaults: Map<String, Value> =
        serde_json::from_str(defaults).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let (name, summary) = (String::leak(name), String::leak(summary));
    let controller = Controller::made_by(name, Family::Rate, SOURCE, summary, defaults, move |parameters, host| {
        let make = Python::attach(|py| make.clone_ref(py));
        let (parameters, host) = (parameters.to_string(), *host);
        Ok(Box::new(move || {
            let sender = PythonSender::new(&make, &parameters, &host).map_err(note).unwrap_or_default();
            Parties { sender: Box::new(sender), receiver: None }
        }))
    });
    registry::add(controller).map_err(PyValueError::new_err)
}

/// What the host of a flow can do.
#[pyclass(frozen, name = "Conditions", module = "thalweg", get_all)]
pub struct HostConditions {
    packet: u64,
    timing_error: f64,
    quantum: f64,
}

/// What the host has in the network, and what it has still to send.
#[pyclass(frozen, name = "Pipe", module = "thalweg", get_all)]
pub struct HostPipe {
    in_flight: u64,
    backlog: Option<u64>,
    packet: u64,
    repairing: bool,
}

/// What one acknowledgment says.
#[pyclass(frozen, name = "Ack", module = "thalweg", get_all)]
pub struct HostAck {
    acked: u64,
    lost: u64,
    spurious: u64,
    marked: u64,
    rtt: Option<f64>,
    in_flight: u64,
    recovery: bool,
    app_limited: bool,
}

/// A sender whose methods are Python's. One that has raised an exception, or could not be made, sends nothing more.
#[derive(Default)]
struct PythonSender(Option<Methods>);

/// The methods of the object; those that it may lack are none.
struct Methods {
    next: Option<Py<PyAny>>,
    window: Option<Py<PyAny>>,
    rate: Option<Py<PyAny>>,
    on_send: Option<Py<PyAny>>,
    on_ack: Py<PyAny>,
    on_loss: Py<PyAny>,
    /// What `window` returned after the last event.
    bytes: Option<f64>,
    packet: Bytes,
}

impl PythonSender {
    /// The sender that `make` makes for such a host.
    fn new(make: &Py<PyAny>, parameters: &str, host: &Conditions) -> PyResult<PythonSender> {
        Python::attach(|py| {
            let keywords = py.import("json")?.call_method1("loads", (parameters,))?.cast_into::<PyDict>()?;
            let Conditions { packet, timing_error, quantum, .. } = *host;
            let conditions =
                HostConditions { packet: packet.0, timing_error: timing_error.as_secs(), quantum: quantum.as_secs() };
            let made = make.bind(py).call((conditions,), Some(&keywords))?;
            let method =
                |name: &str| Ok::<_, PyErr>(made.getattr_opt(name)?.filter(|it| !it.is_none()).map(Bound::unbind));
            let mut methods = Methods {
                next: method("next")?,
                window: method("window")?,
                rate: method("rate")?,
                on_send: method("on_send")?,
                on_ack: made.getattr("on_ack")?.unbind(),
                on_loss: made.getattr("on_loss")?.unbind(),
                bytes: None,
                packet,
            };
            methods.ask_window(py)?;
            Ok(PythonSender(Some(methods)))
        })
    }

    /// Calls `work` with the methods. If it raises an exception, or one was raised before, returns `otherwise`.
    fn call<T>(&mut self, otherwise: T, work: impl FnOnce(Python, &mut Methods) -> PyResult<T>) -> T {
        let Some(methods) = &mut self.0 else { return otherwise };
        match Python::attach(|py| work(py, methods)) {
            Ok(value) => value,
            Err(error) => {
                note(error);
                self.0 = None;
                otherwise
            }
        }
    }
}

impl Methods {
    /// Asks for the window again, if there is one.
    fn ask_window(&mut self, py: Python) -> PyResult<()> {
        if let Some(window) = &self.window {
            let bytes: f64 = window.call0(py)?.extract(py)?;
            if bytes.is_nan() || bytes < 0.0 {
                return Err(PyValueError::new_err(format!("window() returned {bytes}; return a number of bytes")));
            }
            self.bytes = Some(bytes);
        }
        Ok(())
    }
}

impl Sender for PythonSender {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        self.call(Next::AfterAck, |py, methods| {
            let Some(next) = &methods.next else {
                let fits = (pipe.in_flight + pipe.packet).0 as f64 <= methods.bytes.unwrap_or(0.0);
                return Ok(if fits { Next::Now } else { Next::AfterAck });
            };
            let at: f64 = next.call1(py, (now.as_secs(), HostPipe::from(pipe)))?.extract(py)?;
            match at {
                _ if at.is_nan() => Err(PyValueError::new_err("next() returned nan; return a time in seconds")),
                _ if at <= now.as_secs() => Ok(Next::Now),
                _ if at.is_infinite() => Ok(Next::AfterAck),
                // Rounding must not make it a time in the past.
                _ => Ok(Next::At(time(at).max(now))),
            }
        })
    }

    fn window(&self) -> Option<Bytes> {
        let methods = self.0.as_ref().filter(|methods| methods.next.is_none())?;
        methods.bytes.map(|bytes| Bytes(bytes as u64))
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.call((), |py, methods| {
            let Some(on_send) = &methods.on_send else { return Ok(()) };
            on_send.call1(py, (now.as_secs(), size.0, HostPipe::from(pipe))).map(drop)
        });
        Stamp::None
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.call((), |py, methods| {
            methods.on_ack.call1(py, (now.as_secs(), HostAck::from(ack)))?;
            methods.ask_window(py)
        });
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        static NAMES: PyOnceLock<[Py<PyString>; 2]> = PyOnceLock::new();
        self.call((), |py, methods| {
            let names = NAMES.get_or_init(py, || ["event", "timeout"].map(|name| PyString::new(py, name).unbind()));
            let name = &names[usize::from(*loss == Loss::Timeout)];
            methods.on_loss.call1(py, (now.as_secs(), name))?;
            methods.ask_window(py)
        });
    }

    fn state(&self) -> State {
        let rate = self.0.as_ref().and_then(|methods| {
            let rate = Python::attach(|py| {
                methods.rate.as_ref()?.call0(py).and_then(|bps| bps.extract(py)).map_err(note).ok()
            });
            rate.map(Rate::from_bps)
        });
        let window = self.0.as_ref().and_then(|methods| Some(methods.bytes? / methods.packet.0 as f64));
        State { window, rate, phase: Phase::CongestionAvoidance }
    }
}

impl From<&Pipe> for HostPipe {
    fn from(pipe: &Pipe) -> HostPipe {
        let Pipe { in_flight, backlog, packet, repairing } = *pipe;
        let backlog = Some(backlog.0).filter(|&bytes| bytes != u64::MAX);
        HostPipe { in_flight: in_flight.0, backlog, packet: packet.0, repairing }
    }
}

impl From<&Ack> for HostAck {
    fn from(ack: &Ack) -> HostAck {
        let Ack {
            acked,
            lost,
            spurious,
            marked,
            rtt,
            in_flight,
            recovery,
            app_limited,
            report: _,
            spurious_timeout: _,
        } = *ack;
        HostAck {
            acked: acked.0,
            lost: lost.0,
            spurious: spurious.0,
            marked: marked.0,
            rtt: rtt.map(|rtt| rtt.as_secs()),
            in_flight: in_flight.0,
            recovery,
            app_limited,
        }
    }
}

/// A time in seconds as the engine has it. One that does not fit is the last.
fn time(seconds: f64) -> Time {
    Time((seconds * 1e12).round() as u64)
}
