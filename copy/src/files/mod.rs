//! The file system on either side of a copy: what may be read, where files are written, and how a partial file is kept.

pub(crate) mod attributes;
pub(crate) mod destination;
pub(crate) mod extents;
pub(crate) mod hash;
pub(crate) mod partial;
pub(crate) mod root;
pub(crate) mod sync;
pub(crate) mod walk;
