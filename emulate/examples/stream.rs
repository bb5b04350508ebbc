//! Sends datagrams of 1200 bytes at a rate, or receives them: for bench/emulate.
//!
//! `stream sink HOST:PORT` or `stream HOST:PORT MBPS SECONDS TOGETHER`, with as many datagrams per call as `TOGETHER`
//! says

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg, setsockopt, sockopt};
use std::io::IoSlice;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

const SIZE: usize = 1200;

fn main() -> std::io::Result<()> {
    realtime::hurry(1);
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| args.get(i).and_then(|text| text.parse().ok()).expect("HOST:PORT MBPS SECONDS TOGETHER");
    if args.first().is_some_and(|first| first == "sink") {
        let socket = UdpSocket::bind(&args[1])?;
        let _ = setsockopt(&socket, sockopt::UdpGroSegment, &true);
        let mut buffer = vec![0; 1 << 16];
        loop {
            socket.recv(&mut buffer)?;
        }
    }
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(&args[0])?;
    let together = (number(3) as usize).clamp(1, 54);
    let (per_second, end) = (number(1) * 1e6 / 8.0 / SIZE as f64, Duration::from_secs_f64(number(2)));
    let (begin, mut sent) = (Instant::now(), 0);
    let payload = vec![0; together * SIZE];
    let segments = [ControlMessage::UdpGsoSegments(&(SIZE as u16))];
    let segments = if together > 1 { &segments[..] } else { &[] };
    while begin.elapsed() < end {
        while (sent as f64) < begin.elapsed().as_secs_f64() * per_second {
            // Refused if nobody is there any more.
            let _ = sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(&payload)], segments, MsgFlags::empty(), None);
            sent += together;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}
