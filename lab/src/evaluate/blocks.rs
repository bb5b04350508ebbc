//! The blocks that the program knows. Their files, the folder `blocks`, are part of the program.

use super::block::Block;
use super::criteria::order;
use scenario::nearest;
use std::path::Path;

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

/// The block `name` of `known`, or the one in the file of this name.
///
/// # Errors
/// In a line, that there is no such block, or what is wrong with the file.
pub fn block(name: &str, known: &[Block]) -> Result<Block, String> {
    if let Some(stem) = name.strip_suffix(".toml") {
        let text = scenario::text_of(Path::new(name)).map_err(|problems| problems[0].to_string())?;
        let id = Path::new(stem).file_name().map_or(stem.into(), |it| it.to_string_lossy());
        return Block::read(&id, name, &text);
    }
    known.iter().find(|block| block.id == name).cloned().ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|block| block.id.as_str()).collect();
        match nearest(name, &names) {
            Some(near) => format!("there is no block `{name}`; did you mean `{near}`?"),
            None => format!("there is no block `{name}`; there are {}", names.join(", ")),
        }
    })
}

/// A file beside the scenarios of the blocks, by its name: a trace.
pub(super) fn beside(name: &str) -> Option<String> {
    crate::reproduce::catalogue::file(&format!("beyond/scenarios/{name}")).map(str::to_string)
}
