//! The messages about stamps that the two ends exchange in QUIC datagrams, which are encrypted and authenticated, but
//! may be lost. An end that wants to stamp its packets asks; its peer grants it, and sends reports from then on.

use control::Report;

/// The longest message, in bytes: it must fit into a QUIC datagram of the smallest packet.
const LONGEST: usize = 1000;

const ASK: u8 = 1;
const GRANT: u8 = 2;
const REFUSE: u8 = 3;
const AVAILABLE: u8 = 4;
const RECEIVED: u8 = 5;
const ALLOWED: u8 = 6;
const FEEDBACK: u8 = 7;

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Asks for the receiver of a controller.
    Ask {
        /// The controller's name in the registry.
        controller: String,
        /// All of its parameters, a JSON object.
        parameters: String,
    },
    /// There is such a receiver, and it reads stamps from now on.
    Grant,
    /// There is no such receiver.
    Refuse,
    /// The receiver's report.
    Report(Report),
}

impl Message {
    /// The message as bytes; none if it is too long.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let bytes = match self {
            Message::Ask { controller, parameters } => {
                let name = u8::try_from(controller.len()).ok()?;
                [&[ASK, name], controller.as_bytes(), parameters.as_bytes()].concat()
            }
            Message::Grant => vec![GRANT],
            Message::Refuse => vec![REFUSE],
            Message::Report(Report::Available { stream, rate, interval }) => {
                [&[AVAILABLE][..], &stream.to_be_bytes(), &rate.to_be_bytes(), &interval.to_be_bytes()].concat()
            }
            Message::Report(Report::Received { rate }) => [&[RECEIVED][..], &rate.to_be_bytes()].concat(),
            Message::Report(Report::Allowed { rate }) => [&[ALLOWED][..], &rate.to_be_bytes()].concat(),
            Message::Report(Report::Feedback { whole, part }) => {
                [&[FEEDBACK][..], &whole.to_be_bytes(), &part.to_be_bytes()].concat()
            }
        };
        (bytes.len() <= LONGEST).then_some(bytes)
    }

    /// The message in `bytes`; none if they are no message.
    pub fn decode(bytes: &[u8]) -> Option<Message> {
        let (kind, rest) = bytes.split_first()?;
        let number = |bytes: [u8; 4]| Some(f32::from_be_bytes(bytes)).filter(|it| it.is_finite() && *it >= 0.0);
        match *kind {
            ASK if bytes.len() <= LONGEST => {
                let (name, rest) = rest.split_first()?;
                let (controller, parameters) = rest.split_at_checked(*name as usize)?;
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
                Some(Message::Ask { controller: text(controller)?, parameters: text(parameters)? })
            }
            GRANT if rest.is_empty() => Some(Message::Grant),
            REFUSE if rest.is_empty() => Some(Message::Refuse),
            AVAILABLE => {
                let (stream, rest) = rest.split_first_chunk()?;
                let (rate, rest) = rest.split_first_chunk()?;
                let (stream, rate) = (u32::from_be_bytes(*stream), number(*rate)?);
                let interval = u16::from_be_bytes(rest.try_into().ok()?);
                Some(Message::Report(Report::Available { stream, rate, interval }))
            }
            RECEIVED => Some(Message::Report(Report::Received { rate: number(rest.try_into().ok()?)? })),
            ALLOWED => Some(Message::Report(Report::Allowed { rate: number(rest.try_into().ok()?)? })),
            FEEDBACK => {
                let (whole, rest) = rest.split_first_chunk()?;
                let part = number(rest.try_into().ok()?).filter(|part| *part <= 1.0)?;
                Some(Message::Report(Report::Feedback { whole: i32::from_be_bytes(*whole), part }))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let messages = [
            Message::Ask { controller: "rapid".into(), parameters: "{}".into() },
            Message::Grant,
            Message::Refuse,
            Message::Report(Report::Available { stream: 7, rate: 9.5e8, interval: 4000 }),
            Message::Report(Report::Received { rate: 0.0 }),
            Message::Report(Report::Allowed { rate: 1e9 }),
            Message::Report(Report::Feedback { whole: -7, part: 0.5 }),
        ];
        for message in messages {
            let bytes = message.encode().unwrap();
            assert_eq!(Message::decode(&bytes), Some(message.clone()));
            let cut = Message::decode(&bytes[..bytes.len() - 1]);
            assert!(cut != Some(message.clone()), "{message:?} cut short");
        }
    }

    #[test]
    fn bytes_that_are_no_message_are_refused() {
        let unreal = [f32::NAN, f32::INFINITY, -1.0].map(|rate| [&[RECEIVED][..], &rate.to_be_bytes()].concat());
        let others = [
            vec![],
            vec![0],
            vec![99, 1, 2],
            vec![ASK],
            vec![ASK, 200, b'x'],
            vec![ASK, 1, 0xff],
            vec![REFUSE, 0],
            vec![GRANT, 0],
        ];
        for bytes in unreal.into_iter().chain(others) {
            assert_eq!(Message::decode(&bytes), None, "{bytes:?}");
        }
        let long = Message::Ask { controller: "rapid".into(), parameters: " ".repeat(LONGEST) };
        assert_eq!(long.encode(), None);
    }
}
