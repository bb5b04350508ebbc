//! Asks the processor to fetch what will be needed soon. With thousands of flows, whose state exceeds the caches, most
//! of a packet's time would otherwise be spent waiting for memory.

/// Fetches all cache lines of `value`. A hint: it changes nothing but the time that the next access takes.
#[inline(always)]
pub fn lines<T>(value: &T) {
    fetch(&raw const *value, const { size_of::<T>().div_ceil(64) });
}

/// Fetches the first `LINES` cache lines of `value`, whose size is not looked up.
#[inline(always)]
pub fn first_lines<const LINES: usize, T: ?Sized>(value: &T) {
    fetch((&raw const *value).cast::<u8>(), LINES);
}

#[inline(always)]
#[allow(unsafe_code)]
fn fetch<T>(start: *const T, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines {
        // SAFETY: a prefetch reads nothing and faults nowhere, whatever the address.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(start.cast::<i8>().wrapping_add(64 * line));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, lines);
}
