//! Controllers as processes, for any language: each event is a line of JSON on the standard input of a program, and
//! each of its answers a line on its standard output. docs/processes.md has the lines.
//!
//! A run starts the program once, and all of its flows talk to it, one event after the other. A program that ends, or
//! answers what is no answer, fails the evaluation: see [`failure`].

use crate::runner::RunCache;
use control::pace::Pacer;
use control::registry::{self, Parties};
use control::{Ack, Bytes, Conditions, Controller, Duration, Family, Loss, Next, Phase, Pipe, Rate, Sender, Stamp};
use control::{State, Time};
use experiment::{Outcome, Run};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// The source of controllers that were added here.
const SOURCE: &str = "a process";
/// The longest answer, in bytes.
const LONGEST: u64 = 64 * 1024;

/// The first failure of a process.
static FAILED: Mutex<Option<String>> = Mutex::new(None);

/// What went wrong first with a process of this program, in a line.
pub fn failure() -> Option<String> {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn fail(why: String) {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
}

/// Adds the controller `name`, whose decisions are those of `command`, a command of the shell.
///
/// # Errors
/// If there is another controller of this name.
pub fn add(name: &str, command: &str) -> Result<(), String> {
    let (name, command): (&'static str, &'static str) = (String::leak(name.into()), String::leak(command.into()));
    let controller = Controller::made_by(name, Family::Rate, SOURCE, command, Map::new(), move |_, host| {
        let host = *host;
        // It starts with the first flow, as parameters are checked without any.
        let process: Mutex<Option<Arc<Mutex<Process>>>> = Mutex::default();
        Ok(Box::new(move || {
            let mut process = process.lock().unwrap_or_else(PoisonError::into_inner);
            let process = process.get_or_insert_with(|| Arc::new(Mutex::new(Process::start(name, command)))).clone();
            Parties { sender: Box::new(ProcessSender::new(process, &host)), receiver: None }
        }))
    });
    registry::add(controller)
}

/// Whether a controller of `run` is a process.
fn is_in(run: &Run) -> bool {
    let is_process = |name: &str| registry::find(name).is_some_and(|controller| controller.source == SOURCE);
    let experiment = &run.experiment;
    experiment.flows.iter().any(|flow| is_process(&flow.controller))
        || experiment.workloads.iter().any(|workload| is_process(&workload.controller))
}

/// A cache that leaves out the runs of processes: what a program does is no part of a run's name.
pub struct CacheOfOthers<'a>(pub &'a dyn RunCache);

impl RunCache for CacheOfOthers<'_> {
    fn find(&self, run: &Run) -> Option<(Outcome, f64)> {
        if is_in(run) { None } else { self.0.find(run) }
    }

    fn keep(&self, run: &Run, outcome: &Outcome, wall_seconds: f64) {
        if !is_in(run) {
            self.0.keep(run, outcome, wall_seconds);
        }
    }
}

/// An event, as the program reads it. Times are in seconds, sizes in bytes.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event {
    /// A flow begins, whose full packets have this size.
    Start { packet: u64 },
    /// An acknowledgment arrived.
    Ack { acked: u64, lost: u64, marked: u64, rtt: Option<f64>, in_flight: u64, recovery: bool, app_limited: bool },
    /// Packets were lost: once per window of data.
    Loss,
    /// The retransmission timer expired.
    Timeout,
    /// The flow ended. This event has no answer.
    End,
}

/// A line of the program's standard input.
#[derive(Serialize)]
struct Line {
    flow: u32,
    time: f64,
    #[serde(flatten)]
    event: Event,
}

/// A line of its standard output: what holds from now on.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// The most bytes in flight.
    window: f64,
    /// The rate at which packets leave, in bits per second; none: as fast as the window allows.
    rate: Option<f64>,
}

impl Answer {
    /// Reads a line. Windows and rates have bounds, so that a program's mistake does not fill the memory.
    fn read(line: &str) -> Result<Answer, String> {
        let answer: Answer = serde_json::from_str(line).map_err(|e| e.to_string())?;
        let Answer { window, rate } = answer;
        if !(0.0..=1e9).contains(&window) {
            return Err(format!("the window is {window} bytes; answer 0 to 1e9"));
        }
        match rate.filter(|rate| !(1.0..=1e12).contains(rate)) {
            Some(rate) => Err(format!("the rate is {rate} bit/s; answer 1 to 1e12")),
            None => Ok(answer),
        }
    }
}

/// A program that runs; none of its pipes once something went wrong.
struct Process {
    name: &'static str,
    child: Option<Child>,
    pipes: Option<(BufWriter<ChildStdin>, BufReader<ChildStdout>)>,
    flows: u32,
}

impl Process {
    fn start(name: &'static str, command: &str) -> Process {
        let mut process = Process { name, child: None, pipes: None, flows: 0 };
        let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
        let started =
            Command::new(shell[0]).args([shell[1], command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        match started {
            Ok(mut child) => {
                let pipes = child.stdin.take().zip(child.stdout.take());
                process.pipes = pipes.map(|(stdin, stdout)| (BufWriter::new(stdin), BufReader::new(stdout)));
                process.child = Some(child);
            }
            Err(e) => fail(format!("{name}: its process cannot be started ({e})")),
        }
        process
    }

    /// Tells the program of an event, and returns its answer; none if it has failed.
    fn tell(&mut self, line: &Line) -> Option<Answer> {
        let (stdin, stdout) = self.pipes.as_mut()?;
        let mut exchange = || -> Result<Option<Answer>, String> {
            let ended = |_| "its process has ended".to_string();
            serde_json::to_writer(&mut *stdin, line).map_err(|_| "its process has ended".to_string())?;
            stdin.write_all(b"\n").and_then(|()| stdin.flush()).map_err(ended)?;
            if matches!(line.event, Event::End) {
                return Ok(None);
            }
            let mut text = String::new();
            let mut limited = std::io::Read::take(&mut *stdout, LONGEST);
            if limited.read_line(&mut text).map_err(|e| format!("its answer cannot be read ({e})"))? == 0 {
                return Err("its process has ended".into());
            }
            Answer::read(&text).map(Some).map_err(|why| format!("its process answered {:?}: {why}", text.trim_end()))
        };
        match exchange() {
            Ok(answer) => answer,
            // Nothing is wrong with a program that does not wait for the end of its last flow.
            Err(why) => {
                if !matches!(line.event, Event::End) {
                    fail(format!("{}: {why}", self.name));
                }
                self.pipes = None;
                None
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The end of its input tells the program to end; one that does not is ended.
        self.pipes = None;
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A flow whose decisions are those of a process. Once that has failed, it sends nothing more.
struct ProcessSender {
    process: Arc<Mutex<Process>>,
    flow: u32,
    answer: Option<Answer>,
    packet: Bytes,
    pacer: Pacer,
    now: Time,
}

impl ProcessSender {
    fn new(process: Arc<Mutex<Process>>, host: &Conditions) -> ProcessSender {
        let flow = {
            let mut process = process.lock().unwrap_or_else(PoisonError::into_inner);
            process.flows += 1;
            process.flows - 1
        };
        let packet = host.packet;
        let mut sender =
            ProcessSender { process, flow, answer: None, packet, pacer: Pacer::default(), now: Time::ZERO };
        sender.tell(Time::ZERO, Event::Start { packet: packet.0 });
        sender
    }

    fn tell(&mut self, now: Time, event: Event) {
        self.now = now;
        let line = Line { flow: self.flow, time: now.as_secs(), event };
        self.answer = self.process.lock().unwrap_or_else(PoisonError::into_inner).tell(&line);
    }

    /// The rate, if there is one.
    fn rate(&self) -> Option<Rate> {
        self.answer.and_then(|answer| answer.rate).map(Rate::from_bps)
    }
}

impl Sender for ProcessSender {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        let Some(answer) = self.answer else { return Next::AfterAck };
        let fits = (pipe.in_flight + pipe.packet).0 as f64 <= answer.window;
        match self.rate() {
            _ if !fits => Next::AfterAck,
            None => Next::Now,
            Some(rate) => match self.pacer.due(rate) {
                due if due <= now => Next::Now,
                due => Next::At(due),
            },
        }
    }

    fn window(&self) -> Option<Bytes> {
        let answer = self.answer.filter(|answer| answer.rate.is_none())?;
        Some(Bytes(answer.window as u64))
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        if let Some(rate) = self.rate() {
            self.pacer.on_send(now, size, rate);
        }
        Stamp::None
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        let Ack { acked, lost, marked, rtt, in_flight, recovery, app_limited, .. } = *ack;
        let rtt = rtt.map(Duration::as_secs);
        let (acked, lost, marked, in_flight) = (acked.0, lost.0, marked.0, in_flight.0);
        self.tell(now, Event::Ack { acked, lost, marked, rtt, in_flight, recovery, app_limited });
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        self.tell(now, if *loss == Loss::Timeout { Event::Timeout } else { Event::Loss });
    }

    fn state(&self) -> State {
        let window = self.answer.map(|answer| answer.window / self.packet.0 as f64);
        State { window, rate: self.rate(), phase: Phase::CongestionAvoidance }
    }
}

impl Drop for ProcessSender {
    fn drop(&mut self) {
        let line = Line { flow: self.flow, time: self.now.as_secs(), event: Event::End };
        self.process.lock().unwrap_or_else(PoisonError::into_inner).tell(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_window_and_perhaps_a_rate() {
        assert_eq!(Answer::read("{\"window\": 15000}\n"), Ok(Answer { window: 15000.0, rate: None }));
        let both = Answer { window: 15000.0, rate: Some(1e6) };
        assert_eq!(Answer::read("{\"window\": 15000, \"rate\": 1e6}"), Ok(both));
        for (line, why) in [
            ("", "EOF"),
            ("{\"rate\": 1e6}", "missing field `window`"),
            ("{\"window\": -1}", "the window is -1 bytes; answer 0 to 1e9"),
            ("{\"window\": 1e10}", "the window is 10000000000 bytes"),
            ("{\"window\": 9000, \"rate\": 0}", "the rate is 0 bit/s; answer 1 to 1e12"),
            ("{\"cwnd\": 1}", "unknown field `cwnd`"),
            ("15000", "invalid type"),
        ] {
            let error = Answer::read(line).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }

    #[test]
    fn events_are_lines_with_their_flow_and_time() {
        let line = |event| serde_json::to_string(&Line { flow: 3, time: 0.5, event }).unwrap();
        assert_eq!(line(Event::Start { packet: 1500 }), r#"{"flow":3,"time":0.5,"event":"start","packet":1500}"#);
        assert_eq!(line(Event::Timeout), r#"{"flow":3,"time":0.5,"event":"timeout"}"#);
    }
}
