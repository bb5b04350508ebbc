//! One environment: a path, a sender, and its monitor intervals.
//!
//! The observation, the action on a rate, the length of an interval and the reward are those of Aurora (Jay, Rotman,
//! Godfrey, Schapira and Tamar: A Deep Reinforcement Learning Perspective on Internet Congestion Control, ICML 2019) as
//! its authors' simulator has them; the action on a window is Orca's (Abbasloo, Yen and Chao: Classic Meets Modern,
//! SIGCOMM 2020).

use super::agent::{Agent, Control, Monitor, Shared};
use super::draw::{PACKET, Path, Random, Ranges};
use control::registry::Parties;
use control::{Duration, Time};
use experiment::Experiment;
use sim::Simulation;
use std::collections::VecDeque;

/// Intervals that an observation shows.
const HISTORY: usize = 10;
/// Features of an interval: latency inflation, latency ratio, send ratio.
const FEATURES: usize = 3;
/// Numbers of an observation.
pub const OBSERVATION: usize = HISTORY * FEATURES;
/// Metrics of a step: rate and throughput (bits per second), round-trip time (s), share of bytes lost, and packets
/// acknowledged.
pub const METRICS: usize = 5;

/// How far an action of 1 changes a rate.
const RATE_STEP: f64 = 0.025;
/// The features of an interval in which nothing happened.
const NOTHING: [f64; FEATURES] = [0.0, 1.0, 1.0];
/// The ranges of the features.
const BOUNDS: [(f64, f64); FEATURES] = [(-1.0, 10.0), (1.0, 10_000.0), (0.0, 1000.0)];
/// The least interval, in seconds.
const LEAST_INTERVAL: f64 = 1e-4;

self_cell::self_cell!(
    /// An experiment, and the simulation that uses it.
    struct Running {
        owner: Experiment,
        #[not_covariant]
        dependent: Simulation,
    }
);

/// One environment.
pub struct Slot {
    ranges: Ranges,
    control: Control,
    /// Steps of an episode.
    steps: u32,
    random: Random,
    episode: Option<Episode>,
    /// The reward of the last step.
    pub reward: f64,
    /// The metrics of the last step.
    pub metrics: [f64; METRICS],
}

/// What begins anew with each episode.
struct Episode {
    running: Running,
    monitor: Shared,
    now: Time,
    /// Length of the next interval, in seconds.
    interval: f64,
    /// The least mean round-trip time of an interval, in seconds.
    least_rtt: f64,
    /// The features of the last intervals, the newest at the end.
    history: VecDeque<[f64; FEATURES]>,
    /// Steps so far.
    steps: u32,
}

impl Slot {
    /// An environment whose random numbers follow from `seed`.
    pub fn new(ranges: Ranges, control: Control, steps: u32, seed: u64) -> Slot {
        let random = Random::new(seed);
        Slot { ranges, control, steps, random, episode: None, reward: 0.0, metrics: [0.0; METRICS] }
    }

    /// All that is random from now on follows from `seed`.
    pub fn seed(&mut self, seed: u64) {
        self.random = Random::new(seed);
    }

    /// Begins an episode.
    pub fn reset(&mut self) -> Result<(), String> {
        let path = Path::draw(&self.ranges, &mut self.random);
        let monitor = Shared::default();
        monitor.lock().decision = match self.control {
            Control::Rate => path.first_rate,
            Control::Window => (path.first_rate / 8.0 * path.rtt).max(PACKET.0 as f64),
        };
        let agent = |control| Agent::new(control, monitor.clone());
        let running = Running::try_new(path.experiment(), |experiment| {
            Simulation::new(experiment, &|_, _| Ok(Parties { sender: Box::new(agent(self.control)), receiver: None }))
        })?;
        let history = VecDeque::from([NOTHING; HISTORY]);
        let interval = 1.5 * path.rtt;
        let mut episode =
            Episode { running, monitor, now: Time::ZERO, interval, least_rtt: f64::INFINITY, history, steps: 0 };
        // Two intervals without an agent, so that acknowledgments arrive; the agent's first is as long.
        for _ in 0..2 {
            (_, self.metrics) = episode.advance();
            episode.interval = interval;
        }
        episode.history = VecDeque::from([NOTHING; HISTORY]);
        self.reward = 0.0;
        self.episode = Some(episode);
        Ok(())
    }

    /// Does what the agent wants, a finite number, for one interval. After the end of an episode, begins the next one.
    pub fn step(&mut self, action: f64) -> Result<(), String> {
        if self.truncated() {
            return self.reset();
        }
        let (ranges, control) = (self.ranges, self.control);
        let Some(episode) = &mut self.episode else { return Err("reset the environments first".into()) };
        episode.act(action, control, &ranges);
        (self.reward, self.metrics) = episode.advance();
        episode.steps += 1;
        Ok(())
    }

    /// Whether the episode has ended.
    pub fn truncated(&self) -> bool {
        self.episode.as_ref().is_some_and(|episode| episode.steps >= self.steps)
    }

    /// What the agent sees.
    pub fn observation(&self) -> impl Iterator<Item = f32> {
        self.episode.iter().flat_map(|episode| episode.history.iter().flatten()).map(|&x| x as f32)
    }
}

impl Episode {
    /// Changes the rate or the window.
    fn act(&mut self, action: f64, control: Control, ranges: &Ranges) {
        let decision = &mut self.monitor.lock().decision;
        match control {
            Control::Rate => {
                let changed = if action >= 0.0 {
                    *decision * (1.0 + RATE_STEP * action)
                } else {
                    *decision / (1.0 - RATE_STEP * action)
                };
                let (least, most) = ranges.rates();
                *decision = changed.clamp(least, most);
            }
            Control::Window => {
                // What the path can hold at the highest rate, and one packet.
                let most = ranges.rates().1 / 8.0 * ranges.rtt.1 + 2.0 * ranges.buffer.1 * PACKET.0 as f64;
                *decision = (*decision * action.exp2()).clamp(PACKET.0 as f64, most);
            }
        }
    }

    /// Simulates an interval. Returns its reward and metrics.
    fn advance(&mut self) -> (f64, [f64; METRICS]) {
        self.monitor.lock().clear();
        let until = self.now + Duration::from_secs(self.interval);
        self.running.with_dependent_mut(|_, simulation| simulation.run_until(until));
        self.now = until;
        let monitor = self.monitor.lock();
        let mean = mean(&monitor.rtts);
        let rtt = mean.unwrap_or(0.0);
        self.least_rtt = mean.map_or(self.least_rtt, |rtt| self.least_rtt.min(rtt));
        let features = features(&monitor, self.interval, rtt, self.least_rtt);
        self.history.pop_front();
        self.history.push_back(features);
        let per_second = 8.0 / self.interval;
        let (sent, throughput) = (monitor.sent as f64 * per_second, monitor.acked as f64 * per_second);
        let finished = monitor.acked + monitor.lost;
        let loss = if finished > 0 { monitor.lost as f64 / finished as f64 } else { 0.0 };
        // As in Aurora's simulator, per thousand: throughput in packets per second, round-trip time in seconds.
        let reward = (10.0 * throughput / PACKET.as_bits() - 1e3 * rtt - 2e3 * loss) * 1e-3;
        if mean.is_some() {
            self.interval = (0.5 * rtt).max(LEAST_INTERVAL);
        }
        (reward, [sent, throughput, rtt, loss, monitor.acked as f64 / PACKET.0 as f64])
    }
}

/// The features of an interval of `seconds` with this mean round-trip time, and the least one so far.
fn features(monitor: &Monitor, seconds: f64, rtt: f64, least: f64) -> [f64; FEATURES] {
    let (first, second) = monitor.rtts.split_at(monitor.rtts.len() / 2);
    let inflation = match (mean(first), mean(second)) {
        (Some(first), Some(second)) => (second - first) / seconds,
        _ => 0.0,
    };
    let ratio = if rtt > 0.0 { rtt / least } else { 1.0 };
    let send_ratio = if monitor.acked > 0 { monitor.sent as f64 / monitor.acked as f64 } else { 1.0 };
    let [a, b, c] = BOUNDS;
    [inflation.clamp(a.0, a.1), ratio.clamp(b.0, b.1), send_ratio.clamp(c.0, c.1)]
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
