//! Logs of congestion control in the format qlog (draft-ietf-quic-qlog-main-schema-14 and
//! draft-ietf-quic-qlog-quic-events-13).
//!
//! What lives here: the [events](event) of a connection that congestion control is about; a [`Record`] of them, which a
//! sender fills that it [watches](Record::watch), in whichever host that sender is; [`write()`], which makes a file of
//! JSON text sequences; and [`read()`], which takes the files of any implementation, in the newest form and in the
//! older ones. What does not: which runs there are and what else a file says of them (`lab::qlog`), and drawing
//! (`report`). docs/qlog.md describes the files.
//!
//! Rules of the room: a record is thinned while it is made, so that its size follows the length of the run and not the
//! number of packets. What is read is foreign: no bytes cause a panic, and a mistake is one line that names the record.

pub mod event;
mod read;
mod record;
mod thin;
mod write;

pub use event::{Event, Happened, Metric, Metrics, milliseconds};
pub use read::{Mistake, Trace, read};
pub use record::Record;
pub use write::{Header, write};
