//! Sends datagrams of 1200 bytes at a rate and counts those that arrive: for bench/emulate.
//!
//! `stream sink HOST:PORT` or `stream HOST:PORT MBPS SECONDS`

use std::net::UdpSocket;
use std::time::{Duration, Instant};

const SIZE: usize = 1200;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| args.get(i).and_then(|text| text.parse::<f64>().ok()).expect("HOST:PORT MBPS SECONDS");
    if args.first().is_some_and(|first| first == "sink") {
        let socket = UdpSocket::bind(&args[1])?;
        let mut buffer = [0; 2048];
        loop {
            socket.recv(&mut buffer)?;
        }
    }
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(&args[0])?;
    let (per_second, end) = (number(1) * 1e6 / 8.0 / SIZE as f64, Duration::from_secs_f64(number(2)));
    let (begin, mut sent) = (Instant::now(), 0u64);
    while begin.elapsed() < end {
        while (sent as f64) < begin.elapsed().as_secs_f64() * per_second {
            // Refused if nobody is there any more.
            let _ = socket.send(&[0; SIZE]);
            sent += 1;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}
