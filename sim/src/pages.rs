//! Asks the system for large pages. In small ones, a processor does not know the addresses of what a hundred thousand
//! flows touch, and each address that it does not know takes a walk through several levels of tables.

/// Asks for large pages where there is room for `values` in memory. A hint: it changes nothing but the time that it
/// takes to come to the values.
pub fn large<T>(values: &Vec<T>) {
    let start = values.as_ptr().addr();
    advise(start, start + values.capacity() * size_of::<T>());
}

/// Makes room for so many `bytes` of small values, each of which is allocated by itself, and asks for large pages
/// there. What is returned is to be kept as long as the values are.
///
/// The allocator is asked for the room in blocks, which are given back to it. From then on it puts small values there,
/// as long as the last block is in use: otherwise it would return the room to the system, and later take new memory, of
/// which nothing is known here. If it puts the blocks elsewhere than side by side, this does nothing.
pub fn large_heap(bytes: usize) -> Option<Vec<u8>> {
    let mut blocks: Vec<Vec<u8>> = (0..bytes.div_ceil(BLOCK)).map(|_| Vec::with_capacity(BLOCK)).collect();
    blocks.sort_unstable_by_key(|block| block.as_ptr().addr());
    let start = blocks.first()?.as_ptr().addr();
    let end = blocks.last()?.as_ptr().addr() + BLOCK;
    if end - start > 2 * bytes {
        return None;
    }
    advise(start, end);
    blocks.pop()
}

#[allow(unsafe_code)]
fn advise(start: usize, end: usize) {
    #[cfg(target_os = "linux")]
    {
        use libc::{MADV_HUGEPAGE, madvise};
        let start = start.next_multiple_of(PAGE);
        if end.saturating_sub(start) >= LARGE {
            // SAFETY: neither changes what is in memory or how it may be used, whatever the address. An error means
            // that there are no large pages, or none where nothing was written yet.
            unsafe {
                madvise(start as *mut _, end - start, MADV_HUGEPAGE);
                madvise(start as *mut _, end - start, MADV_COLLAPSE);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, end);
}

/// So large are the blocks of [`large_heap`]: small enough for allocators to put them where small values are.
const BLOCK: usize = 64 << 10;
/// Moves what is in small pages into large ones at once, from Linux 6.1 on. An allocator writes the sizes of blocks
/// between them, so that parts of the memory are in small pages already, and the system itself takes minutes to move
/// what is there. (Only some C libraries have this constant.)
#[cfg(target_os = "linux")]
const MADV_COLLAPSE: i32 = 25;
/// Advice begins at a multiple of this, the size of a page on most machines.
#[cfg(target_os = "linux")]
const PAGE: usize = 4096;
/// With less memory than this, the part of the last large page that is not used would cost more than it saves.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;
