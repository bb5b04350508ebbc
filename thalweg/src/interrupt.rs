//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether Ctrl-C was pressed. The signals SIGTERM and SIGHUP count, too.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Notes Ctrl-C from now on, which then does not end the process.
    pub fn catch() -> Interrupt {
        let interrupt = Interrupt::default();
        let noted = interrupt.clone();
        // If no handler can be set, Ctrl-C ends the process at once. That is no reason not to run.
        let _ = ctrlc::set_handler(move || noted.0.store(true, Ordering::Relaxed));
        interrupt
    }

    /// Whether Ctrl-C was pressed.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
