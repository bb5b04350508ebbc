//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants to stop. SIGTERM and SIGHUP count, too.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on, Ctrl-C does not end the process but is noted here.
    pub fn catch() -> Interrupt {
        let interrupt = Interrupt::default();
        let noted = interrupt.clone();
        // Without a handler Ctrl-C ends the process at once: worse, but no reason not to run.
        let _ = ctrlc::set_handler(move || noted.0.store(true, Ordering::Relaxed));
        interrupt
    }

    /// Whether it came.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
