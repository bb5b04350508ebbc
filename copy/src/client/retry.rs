//! When a copy is tried again after a failed attempt, and when it is given up. It does no I/O and has no clock.

use super::failure::Failure;
use crate::error::Error;
use std::time::{Duration, Instant};

/// The state of the retries.
pub(super) struct Retry {
    /// How long to try again after a connection was lost.
    retry_for: Duration,
    /// The last lost connection over which there was progress: when it was lost, and how. `None` before the first loss.
    lost: Option<(Instant, String)>,
}

impl Retry {
    pub(super) fn new(retry_for: Duration) -> Retry {
        Retry { retry_for, lost: None }
    }

    /// Whether a connection was lost before, so that the next attempt is a repetition.
    pub(super) fn is_retrying(&self) -> bool {
        self.lost.is_some()
    }

    /// Decides after a failed attempt: `Ok` means try again. `progress` says whether the attempt has copied any bytes.
    pub(super) fn on_failure(&mut self, failure: Failure, progress: bool, now: Instant) -> Result<(), Error> {
        let last = match failure {
            Failure::Final(error) => return Err(error),
            Failure::NotConnected(error) if self.lost.is_none() => return Err(error),
            Failure::NotConnected(error) => error.to_string(),
            Failure::Lost(reason) => {
                if progress || self.lost.is_none() {
                    self.lost = Some((now, reason.clone()));
                }
                reason
            }
        };
        match &self.lost {
            Some((since, first)) if now.duration_since(*since) >= self.retry_for => {
                Err(Error::GaveUp { first: first.clone(), last: Some(last).filter(|last| last != first) })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::Ended;

    const MINUTE: Duration = Duration::from_secs(60);

    fn lost(reason: &str) -> Failure {
        Failure::Lost(reason.into())
    }

    fn unreachable(reason: &str) -> Failure {
        Failure::NotConnected(Error::Unreachable(reason.into()))
    }

    #[test]
    fn a_server_that_was_never_reached_is_not_tried_again() {
        let error = Retry::new(MINUTE).on_failure(unreachable("no answer"), false, Instant::now());
        assert!(matches!(error, Err(Error::Unreachable(_))));
    }

    #[test]
    fn a_lost_connection_is_tried_again_until_the_time_is_over() {
        let (begin, mut retry) = (Instant::now(), Retry::new(MINUTE));
        assert!(!retry.is_retrying());
        retry.on_failure(lost("cut"), true, begin).unwrap();
        assert!(retry.is_retrying());
        retry.on_failure(unreachable("no answer"), false, begin + MINUTE / 2).unwrap();
        let error = retry.on_failure(unreachable("no answer"), false, begin + MINUTE).unwrap_err();
        assert_eq!(error.to_string(), "cut, and then: no answer; repeat the command to continue the copy");
    }

    #[test]
    fn a_server_without_a_place_ends_a_copy_that_begins_and_not_one_that_was_interrupted() {
        let no_place = || Failure::from(Ended::NoPlace(Error::Refused("as many clients as it takes".into())));
        let error = Retry::new(MINUTE).on_failure(no_place(), false, Instant::now());
        assert!(matches!(error, Err(Error::Refused(_))));
        let (begin, mut retry) = (Instant::now(), Retry::new(MINUTE));
        retry.on_failure(lost("cut"), true, begin).unwrap();
        retry.on_failure(no_place(), false, begin + MINUTE / 2).unwrap();
        assert!(retry.on_failure(no_place(), false, begin + MINUTE).is_err());
    }

    #[test]
    fn progress_starts_the_time_for_retries_anew() {
        let (begin, mut retry) = (Instant::now(), Retry::new(MINUTE));
        retry.on_failure(lost("cut"), true, begin).unwrap();
        retry.on_failure(lost("cut"), true, begin + MINUTE).unwrap();
        retry.on_failure(lost("cut"), false, begin + MINUTE + MINUTE / 2).unwrap();
        assert!(retry.on_failure(lost("cut"), false, begin + 2 * MINUTE).is_err());
    }

    #[test]
    fn an_error_that_would_come_again_ends_the_copy_at_once() {
        let mut retry = Retry::new(MINUTE);
        retry.on_failure(lost("cut"), true, Instant::now()).unwrap();
        let refused = Failure::Final(Error::Refused("no".into()));
        assert!(matches!(retry.on_failure(refused, true, Instant::now()), Err(Error::Refused(_))));
    }
}
