//! The blocks that the program knows. Their files, the folder `blocks`, are part of the program.

use super::block::Block;
use super::criteria::order;

/// The files of the blocks: path and text.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/blocks.rs"));

/// All blocks, in the order of the sections of RFC 9743 that ask for them.
///
/// # Errors
/// In a line, what is wrong with one of them.
pub fn blocks() -> Result<Vec<Block>, String> {
    let read = |(path, text): &(&str, &str)| Block::read(path.trim_end_matches(".toml"), path, text);
    let mut all: Vec<Block> = FILES.iter().map(read).collect::<Result<_, _>>()?;
    all.sort_by_cached_key(|block| order(&block.rows[0].criterion));
    Ok(all)
}

/// A file beside the scenarios of the blocks, by its name: a trace.
pub(super) fn beside(name: &str) -> Option<String> {
    crate::reproduce::catalogue::file(&format!("beyond/scenarios/{name}")).map(str::to_string)
}
