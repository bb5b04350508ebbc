//! Simulations whose sender an agent controls, several side by side: the native part of `thalweg.envs`.
//!
//! A [`Slot`](slot::Slot) is one of them: a path drawn at random, and one flow whose rate or window the agent sets once
//! per monitor interval of half a round trip. Slots do not depend on each other, nor on the number of threads.

mod agent;
mod draw;
mod slot;

use agent::Control;
use draw::Ranges;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use slot::{METRICS, OBSERVATION, Slot};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Environments side by side.
#[pyclass(frozen, module = "thalweg._thalweg")]
pub struct Envs {
    /// One caller at a time uses them.
    slots: Mutex<Vec<Slot>>,
    threads: usize,
}

#[pymethods]
impl Envs {
    /// `count` environments, in which the agent sets what `control` names (`"rate"` or `"window"`), on paths drawn from
    /// ranges: rates in bits per second, round-trip times in seconds, buffers in packets, and shares of packets lost.
    /// An episode has `steps` steps. Up to `threads` threads work on a step.
    #[new]
    #[pyo3(signature = (count, control, rate, rtt, buffer, loss, steps, threads))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        count: usize,
        control: &str,
        rate: (f64, f64),
        rtt: (f64, f64),
        buffer: (f64, f64),
        loss: (f64, f64),
        steps: u32,
        threads: usize,
    ) -> PyResult<Envs> {
        let control = match control {
            "rate" => Control::Rate,
            "window" => Control::Window,
            other => {
                return Err(PyValueError::new_err(format!("control: {other:?} is neither \"rate\" nor \"window\"")));
            }
        };
        let ranges = Ranges { rate, rtt, buffer, loss };
        ranges.check().map_err(PyValueError::new_err)?;
        let slots = (0..count).map(|i| Slot::new(ranges, control, steps, i as u64)).collect();
        Ok(Envs { slots: Mutex::new(slots), threads: threads.max(1) })
    }

    /// Begins a new episode in every environment, and fills `observations`. With `seeds`, which has one for each, all
    /// that is random from then on follows from these.
    fn reset(&self, py: Python, seeds: Option<Vec<u64>>, observations: PyBuffer<f32>) -> PyResult<()> {
        let slots = &mut *self.slots(py);
        let seeds = seeds.unwrap_or_default();
        if !seeds.is_empty() && seeds.len() != slots.len() {
            return Err(PyValueError::new_err(format!("{} seeds for {} environments", seeds.len(), slots.len())));
        }
        slots.iter_mut().zip(seeds).for_each(|(slot, seed)| slot.seed(seed));
        self.each(py, slots, |slot, _| slot.reset())?;
        observe(py, slots, &observations)
    }

    /// Makes a step in every environment, and fills the buffers: one action, reward, sign of truncation and row of
    /// observations and of metrics for each. An environment whose episode ended with the last step begins a new one
    /// instead.
    fn step(
        &self,
        py: Python,
        actions: PyBuffer<f32>,
        observations: PyBuffer<f32>,
        rewards: PyBuffer<f64>,
        truncated: PyBuffer<u8>,
        metrics: PyBuffer<f64>,
    ) -> PyResult<()> {
        let slots = &mut *self.slots(py);
        let actions = actions.to_vec(py)?;
        if actions.len() != slots.len() {
            return Err(PyValueError::new_err(format!("{} actions for {} environments", actions.len(), slots.len())));
        }
        if let Some(wrong) = actions.iter().find(|action| !action.is_finite()) {
            return Err(PyValueError::new_err(format!("{wrong} is no action")));
        }
        self.each(py, slots, |slot, i| slot.step(f64::from(actions[i])))?;
        rewards.copy_from_slice(py, &slots.iter().map(|slot| slot.reward).collect::<Vec<_>>())?;
        truncated.copy_from_slice(py, &slots.iter().map(|slot| slot.truncated().into()).collect::<Vec<_>>())?;
        metrics.copy_from_slice(py, &slots.iter().flat_map(|slot| slot.metrics).collect::<Vec<_>>())?;
        observe(py, slots, &observations)
    }

    /// How many numbers an observation has.
    #[classattr]
    const OBSERVATION: usize = OBSERVATION;

    /// How many metrics a step has: rate and throughput (bits per second), round-trip time (s), share of bytes lost,
    /// packets acknowledged.
    #[classattr]
    const METRICS: usize = METRICS;
}

impl Envs {
    /// The slots, once no other thread uses them. Python's lock is not held while it waits.
    fn slots(&self, py: Python) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work` with each slot and its number, on several threads. Python's lock is not held meanwhile.
    fn each(
        &self,
        py: Python,
        slots: &mut [Slot],
        work: impl Fn(&mut Slot, usize) -> Result<(), String> + Sync,
    ) -> PyResult<()> {
        let share = slots.len().div_ceil(self.threads).max(1);
        let do_share = |first: usize, slots: &mut [Slot]| {
            slots.iter_mut().enumerate().try_for_each(|(i, slot)| work(slot, first + i))
        };
        let done = py.detach(|| match slots.len() <= share {
            true => do_share(0, slots),
            false => thread::scope(|scope| {
                let shares = slots.chunks_mut(share).enumerate();
                let threads: Vec<_> =
                    shares.map(|(k, slots)| scope.spawn(move || do_share(k * share, slots))).collect();
                threads.into_iter().try_for_each(|it| it.join().unwrap_or_else(|_| Err("a step failed".into())))
            }),
        });
        done.map_err(PyValueError::new_err)
    }
}

/// Fills `observations` with what the agents see.
fn observe(py: Python, slots: &[Slot], observations: &PyBuffer<f32>) -> PyResult<()> {
    observations.copy_from_slice(py, &slots.iter().flat_map(Slot::observation).collect::<Vec<_>>())
}
