//! Which thread goes before which.

use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id, thread_schedule_policy,
};

const TAKING_TURNS: ThreadSchedulePolicy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::RoundRobin);

/// Has this thread, and those that it starts, scheduled before all ordinary ones, which it preempts whenever it has something to do, and
/// before others with a lower `priority`, from 1 on; those with the same take turns. Whether the system allows it.
pub fn hurry(priority: u8) -> bool {
    wake_in_time();
    let Ok(priority) = ThreadPriorityValue::try_from(priority) else { return false };
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(priority), TAKING_TURNS).is_ok()
}

/// Has this thread woken in time. Whether it [hurries](hurry), and others like it get a processor only when it
/// [yields](std::thread::yield_now) or sleeps.
pub fn wake_in_time() -> bool {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_timerslack(1); // otherwise up to 50 us late, to spare power
    thread_schedule_policy() == Ok(TAKING_TURNS)
}
