//! Which threads the system schedules before others.

use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id, thread_schedule_policy,
};

const ROUND_ROBIN: ThreadSchedulePolicy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::RoundRobin);

/// Has the system schedule this thread, and threads that it starts later, before all ordinary threads, and before
/// real-time threads with a lower `priority` (1 or more). Threads of the same priority take turns. Returns whether the
/// system allows it.
pub fn hurry(priority: u8) -> bool {
    wake_in_time();
    let Ok(priority) = ThreadPriorityValue::try_from(priority) else { return false };
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(priority), ROUND_ROBIN).is_ok()
}

/// Has the system wake this thread as exactly as it can. Returns whether the thread is scheduled [before
/// others](hurry): then threads of the same priority get its processor only when it [yields](std::thread::yield_now) or
/// sleeps.
pub fn wake_in_time() -> bool {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_timerslack(1); // nanoseconds; by default, a thread is woken up to 50 us late
    thread_schedule_policy() == Ok(ROUND_ROBIN)
}
