//! Files of connection vectors, the text format of Tmix: "ns Manual", chapter Tmix, and Weigle et al., "Tmix: a tool
//! for generating realistic TCP application workloads in ns-2", CCR 36(3), 2006.
//!
//! The format has two forms. Both are read line by line, so that memory does not grow with the file:
//!
//! ```text
//! original                       alternate                   meaning
//! SEQ 6851 1 21217 555382        S 6851 1 21217 555382       start in us, number of exchanges, two unused numbers
//! w 64800 6432                   w 64800 6432                windows of initiator and acceptor, bytes
//! r 1176194                      r 1176194                   round-trip time, us
//! l 0.000000 0.000000            l 0.000000 0.000000         loss rates of initiator's and acceptor's packets
//! > 245                          I 0 0 245                   the initiator sends 245 bytes
//! t 51257                                                    the acceptor waits 51257 us
//! < 510                          A 0 51257 510               and answers with 510 bytes
//! ```
//!
//! The connections above are sequential: each side waits for the other's message. Concurrent connections begin with
//! `CONC` or `C` and have two numbers of messages; their lines are `c>`, `c<`, `t>` and `t<`, or again `I` and `A`.
//! Lines on the connection's end (a last `t`, a message of 0 bytes) are read and not used.

mod contents;
mod line;
mod reader;
mod replay;
mod writer;

pub use super::line_error::LineError;
pub use contents::{Contents, scan};
pub use reader::Reader;
pub use replay::VectorFile;
pub use writer::{write, write_all};

pub(crate) use replay::VectorFiles;

#[cfg(test)]
mod tests;
