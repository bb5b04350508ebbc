//! A link before the flows that cross it are known.

use super::draft_direction::{DirectionKeys, DraftDirection};
use crate::files::trace::TraceFiles;
use crate::key_path::KeyPath;
use crate::keys::{Link, Path, Reverse};
use crate::problems::Problems;
use control::Duration;

/// What results and routes call the link of `[path]`.
const BOTTLENECK: &str = "bottleneck";

/// A link before its delays, its buffers and its queues are known.
pub(super) struct DraftLink<'s> {
    /// What results and routes call it.
    pub name: &'s str,
    /// From its near to its far end.
    pub forward: DraftDirection<'s>,
    /// From its far to its near end; none if it is as forward.
    pub reverse: Option<DraftDirection<'s>>,
}

impl<'s> DraftLink<'s> {
    /// Checks the link of `[path]`, which is at `at`.
    pub fn of_path(path: &'s Path, at: KeyPath, traces: &TraceFiles, problems: &mut Problems) -> DraftLink<'s> {
        let keys = DirectionKeys::of_path(path);
        DraftLink::check(BOTTLENECK, keys, path.reverse.as_ref(), at, traces, problems)
    }

    /// Checks a `[[link]]`, which is at `at`.
    pub fn of_link(link: &'s Link, at: KeyPath, traces: &TraceFiles, problems: &mut Problems) -> DraftLink<'s> {
        let keys = DirectionKeys::of_link(link);
        DraftLink::check(&link.name, keys, link.reverse.as_ref(), at, traces, problems)
    }

    fn check(
        name: &'s str,
        keys: DirectionKeys<'s>,
        reverse: Option<&'s Reverse>,
        at: KeyPath,
        traces: &TraceFiles,
        problems: &mut Problems,
    ) -> DraftLink<'s> {
        let forward = keys.clone().check(at.clone(), traces, problems);
        let reverse = reverse.map(|reverse| keys.reversed(reverse).check(at, traces, problems));
        DraftLink { name, forward, reverse }
    }

    /// The forward direction, or the one in `reverse`.
    pub fn direction(&self, reverse: bool) -> &DraftDirection<'s> {
        self.reverse.as_ref().filter(|_| reverse).unwrap_or(&self.forward)
    }

    /// The one-way delays of both directions, as far as the scenario gives them.
    pub fn delays(&self) -> [Option<Duration>; 2] {
        [false, true].map(|reverse| self.direction(reverse).delay)
    }
}
