//! `thalweg cp` and `thalweg serve`.

mod location;
mod plan;
mod serve;
mod show;

pub use serve::serve;

use crate::args::Cp;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use copy::{Event, Observer, ssh};
use plan::plan;
use show::Show;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The time between two looks for Ctrl-C, and between two updates of the progress bars.
const TICK: Duration = Duration::from_millis(100);
/// How long threads that are reading or writing a file have to notice that the copy is over.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// Threads for what blocks besides the copies: Tokio looks names up on them.
const OTHERS: usize = 16;

/// Runs `thalweg cp`.
pub fn cp(args: &Cp) -> Result<(), Failure> {
    copy::umask(); // Reads the umask before there are threads.
    if args.server {
        return server();
    }
    let (client, show) = (plan(args)?, Arc::new(Show::new(args.quiet, args.verbose)));
    let interrupt = Interrupt::catch();
    let runtime = runtime(1)?;
    let observer = observer(&show);
    let outcome = runtime.block_on(async {
        let outcome = tokio::select! {
            outcome = client.run(&observer) => Some(outcome),
            () = until(&interrupt, || show.tick()) => None,
        };
        client.close().await;
        outcome
    });
    runtime.shutdown_timeout(SHUTDOWN);
    show.end();
    match outcome {
        None => Err(Failure::Interrupted),
        Some(Err(error)) => Err(Failure::Failed(error.to_string())),
        Some(Ok(summary)) => show.outcome(&summary),
    }
}

/// Waits for Ctrl-C, and calls `meanwhile` while it waits.
async fn until(interrupt: &Interrupt, mut meanwhile: impl FnMut()) {
    while !interrupt.came() {
        meanwhile();
        tokio::time::sleep(TICK).await;
    }
}

/// The runtime for this number of copies at a time.
fn runtime(copies: usize) -> Result<Runtime, Failure> {
    let threads = copies * copy::THREADS + OTHERS;
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(threads).build();
    runtime.map_err(|e| Failure::Failed(format!("cannot start: {}", copy::reason(&e))))
}

fn observer(show: &Arc<Show>) -> Observer {
    let show = show.clone();
    Arc::new(move |event| show.on_event(event))
}

/// Runs `thalweg cp --server`, which ssh starts on the other host. It prints no events: its standard error appears on
/// the client's terminal, and the client reports the same events.
fn server() -> Result<(), Failure> {
    let observer: Observer = Arc::new(|_: Event| {});
    let runtime = runtime(1)?;
    let served = runtime.block_on(ssh::serve(&observer));
    runtime.shutdown_timeout(SHUTDOWN);
    served.map_err(|error| Failure::Failed(error.to_string()))
}
