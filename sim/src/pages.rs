//! Asks the system for large pages. In small ones, a processor does not know the addresses of what a hundred thousand
//! flows touch, and each address that it does not know takes a walk through several levels of tables.

/// Asks for large pages where there is room for `values` in memory. A hint: it changes nothing but the time that it
/// takes to come to the values. What was written before stays in small pages.
#[allow(unsafe_code)]
pub fn large<T>(values: &Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        let start = values.as_ptr().addr().next_multiple_of(PAGE);
        let end = values.as_ptr().addr() + values.capacity() * size_of::<T>();
        if end.saturating_sub(start) >= LARGE {
            // SAFETY: the advice changes neither what is in memory nor how it may be used, whatever the address. An
            // error means that there are no large pages.
            let _ = unsafe { madvise(start as *mut _, end - start, Advice::LinuxHugepage) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = values;
}

/// Advice begins at a multiple of this, the size of a page on most machines.
#[cfg(target_os = "linux")]
const PAGE: usize = 4096;
/// With less memory than this, the part of the last large page that is not used would cost more than it saves.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;
