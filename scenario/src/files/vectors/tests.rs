use super::*;
use control::{Bytes, Duration, Time};
use experiment::traffic::{Connection, Message, Mix, Population, Side};
use proptest::prelude::*;

fn read(text: &str) -> Result<Vec<Connection>, LineError> {
    let mut reader = Reader::new(text.as_bytes());
    let (mut all, mut connection) = (Vec::new(), Connection::default());
    while reader.next(&mut connection)? {
        all.push(connection.clone());
    }
    Ok(all)
}

/// The example of the ns manual, in both forms.
const ORIGINAL: &str = "\
SEQ 6851 1 21217 555382       # starts at 6.851 ms and contains 1 exchange
w 64800 6432
r 1176194
l 0.000000 0.010000
> 245
t 51257
< 510
t 6304943

CONC 1429381 2 2 26876 793318
w 65535 5840
r 36556
l 0.000000 0.000000
c> 222
t> 62436302
c< 726
t< 62400173
c> 16
t> 725
c< 84
t< 130
";
const ALTERNATE: &str = "\
S 6851 1 21217 555382
w 64800 6432
r 1176194
l 0.000000 0.010000
I 0 0 245
A 0 51257 510
A 6304943 0 0

C 1429381 2 2 26876 793318
w 65535 5840
r 36556
l 0.000000 0.000000
I 0 0 222
A 0 0 726
I 62436302 0 16
A 62400173 0 84
I 725 0 0
A 130 0 0
";

#[test]
fn both_forms_give_the_same_connections() {
    let us = Duration::from_micros;
    let message = |from, wait, size| Message { from, wait: us(wait), size: Bytes(size) };
    let (i, a) = (Side::Initiator, Side::Acceptor);
    let expected = [
        Connection {
            start: Time(6851 * 1_000_000),
            rtt: us(1176194),
            window: [Some(Bytes(64800)), Some(Bytes(6432))],
            loss: [0.0, 0.01],
            concurrent: false,
            messages: vec![message(i, 0, 245), message(a, 51257, 510)],
            player: None,
        },
        Connection {
            start: Time(1429381 * 1_000_000),
            rtt: us(36556),
            window: [Some(Bytes(65535)), Some(Bytes(5840))],
            loss: [0.0; 2],
            concurrent: true,
            messages: vec![message(i, 0, 222), message(a, 0, 726), message(i, 62436302, 16), message(a, 62400173, 84)],
            player: None,
        },
    ];
    assert_eq!(read(ORIGINAL).unwrap(), expected);
    assert_eq!(read(ALTERNATE).unwrap(), expected);
    let mut text = Vec::new();
    expected.iter().enumerate().for_each(|(i, connection)| write(&mut text, i as u64, connection).unwrap());
    assert_eq!(read(&String::from_utf8(text).unwrap()).unwrap(), expected);
}

#[test]
fn a_wrong_line_is_named() {
    let seq = "SEQ 10 1 1 1\nr 100\n> 5\n";
    for (text, line, part) in [
        ("hello", 1, "`hello` does not begin a connection"),
        ("SEQ 1\n", 1, "does not begin a connection"),
        ("SEQ -1 1 1 1\nr 5\n> 5\n", 1, "has `-1` in place of a whole number"),
        ("SEQ 1 1 1 1\nr -5\n> 5\n", 2, "has `-5` in place of a whole number"),
        ("SEQ 1 1 1 1\nr 5\n> 99999999999999\n", 3, "too large"),
        ("SEQ 1 1 1 1\nr 5\n> 999999999999999999999999\n", 3, "in place of a whole number"),
        ("SEQ 1 1 1 1\nr 5\nl 0 1.5\n> 5\n", 3, "probability below 1"),
        ("SEQ 1 1 1 1\nr 5\nc> 5\n", 3, "is not a line of such a connection"),
        ("CONC 1 1 1 1 1\nr 5\n> 5\n", 3, "is not a line of such a connection"),
        ("SEQ 1 1 1 1\n> 5\n", 1, "has no round-trip time"),
        ("SEQ 1 1 1 1\nr 5\n", 1, "has no message"),
        ("SEQ 1 2 1 1\nr 5\n> 5\n< 7\n", 1, "fewer messages than this line says"),
        (&format!("{seq}\nSEQ 9 1 1 1\nr 5\n> 5"), 5, "starts before the connection above"),
        (&format!("{seq}{}", "x".repeat(2000)), 4, "too long for a line"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.line == line && error.message.contains(part), "{text}: {error:?}");
        assert!(error.message.contains("; "), "what to do: {error:?}");
    }
    assert!(scan("\n# nothing\n".as_bytes(), Time::MAX).unwrap_err().message.contains("has no connection"));
}

#[test]
fn reading_stops_at_the_first_connection_that_starts_too_late() {
    // The second connection starts too late, and what follows it is never read.
    let contents = scan(format!("{ORIGINAL}rubbish").as_bytes(), Time(1_000_000_000_000));
    assert!(contents.is_err(), "the end of a connection is seen at the next one's beginning");
    let contents = scan(format!("{ORIGINAL}{ORIGINAL}").as_bytes(), Time(1_000_000_000_000)).unwrap();
    assert_eq!((contents.connections, contents.messages, contents.bytes), (1, 2, [245, 510]));
    assert_eq!(contents.least_rtt, Some(Duration::from_micros(1176194)));
}

#[test]
fn a_file_without_line_ends_is_refused_early() {
    let endless = std::io::BufReader::new(std::io::Read::take(std::io::repeat(b'x'), 1 << 40));
    assert!(scan(endless, Time::MAX).unwrap_err().message.contains("too long for a line"));
}

#[test]
fn what_was_written_is_read_back() {
    let mix = Mix {
        seed: 3,
        index: 0,
        load: control::Rate::from_mbps(2.0),
        duration: Duration::from_millis(10_000),
        packet: Bytes(1000),
        header: Bytes(40),
    };
    let (mut arrivals, mut connection) = (mix.arrivals().unwrap(), Connection::default());
    let (mut text, mut drawn) = (Vec::new(), Vec::new());
    while arrivals.next(&mut connection).unwrap() {
        write(&mut text, drawn.len() as u64, &connection).unwrap();
        drawn.push(connection.clone());
    }
    assert_eq!(read(std::str::from_utf8(&text).unwrap()).unwrap(), drawn);
}

/// A line, most likely of a kind that belongs there.
fn line() -> impl Strategy<Value = String> {
    let number = prop_oneof![4 => (0u64..100_000).prop_map(|n| n.to_string()), 1 => "[-0-9.ex]{0,25}"];
    let kind = "(SEQ|CONC|S|C|w|r|l|m|>|<|t|c>|c<|t>|t<|I|A|#|)";
    (kind, proptest::collection::vec(number, 0..6))
        .prop_map(|(kind, numbers)| format!("{kind} {}\n", numbers.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = scan(&bytes[..], Time::MAX);
    }

    #[test]
    fn no_lines_make_the_reader_panic(lines in proptest::collection::vec(line(), 0..30)) {
        let text = format!("SEQ 1 1 1 1\nr 5\n{}", lines.concat());
        match scan(text.as_bytes(), Time::MAX) {
            Ok(contents) => prop_assert!(contents.connections > 0),
            Err(error) => prop_assert!(error.message.lines().count() == 1 && error.line > 0),
        }
    }
}
