//! What moving bytes costs: one stream over loopback, from memory to nowhere, with a controller, or with quinn alone
//! and what it does unless told otherwise. Each end has a thread of its own. Prints the rate, and the processor time of
//! the process and of the receiving thread for a gigabyte.
//!
//! `cargo run --release -p thalweg-wire --example memory -- cubic quinn thalweg 1000`

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use thalweg_wire::{Choice, Endpoint, Fingerprint, Identity, client_tls, server_tls};

type Failure = Box<dyn Error + Send + Sync>;

const PROTOCOL: &[u8] = b"memory";
const BLOCK: usize = 256 << 10;
const ANY: &str = "127.0.0.1:0";

/// Where the receiving end listens, and how it is known.
type Address = (std::net::SocketAddr, Fingerprint);

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let megabytes = args.iter().find_map(|text| text.parse().ok()).unwrap_or(1000);
    for name in args.iter().filter(|text| text.parse::<usize>().is_err()) {
        run(name.clone(), megabytes)?;
    }
    Ok(())
}

fn run(name: String, megabytes: usize) -> Result<(), Failure> {
    let (address, known) = channel::<Address>();
    let quinn_alone = name == "quinn";
    let cpu = cpu_time("/proc/self/stat");
    let receiver = std::thread::spawn(move || block_on(receive(quinn_alone, address)));
    let (took, told) = block_on(send(&name, known.recv()?, megabytes))?;
    let receiving = receiver.join().expect("the receiver does not panic")?.as_secs_f64();
    let (all, gigabytes) = ((cpu_time("/proc/self/stat") - cpu).as_secs_f64(), megabytes as f64 / 1e3);
    println!(
        "{name:14} {:6.0} Mbps {:6.2} CPU s per GB, {:5.2} receiving   {told}",
        gigabytes * 8e3 / took.as_secs_f64(),
        all / gigabytes,
        receiving / gigabytes
    );
    Ok(())
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// Returns how long it took, and what the connection says.
async fn send(name: &str, (address, fingerprint): Address, megabytes: usize) -> Result<(Duration, String), Failure> {
    if name == "quinn" {
        let crypto = QuicClientConfig::try_from(client_tls(fingerprint, None, PROTOCOL))?;
        let endpoint = quinn::Endpoint::client(ANY.parse()?)?;
        let config = quinn::ClientConfig::new(Arc::new(crypto));
        let connection = endpoint.connect_with(config, address, "thalweg")?.await?;
        let took = write(&connection, megabytes).await?;
        endpoint.wait_idle().await;
        return Ok((took, format!("{:?}", connection.stats().path)));
    }
    let endpoint = Endpoint::builder(Choice::new(name, &Default::default())?).bind(ANY.parse()?)?;
    let connection = endpoint.connect_pinned(address, fingerprint, PROTOCOL).await?;
    connection.settled().await;
    let took = write(&connection, megabytes).await?;
    endpoint.quinn().wait_idle().await;
    Ok((took, format!("{:?} {:?} {:?}", connection.stamps(), connection.state(), connection.stats().path)))
}

async fn write(connection: &quinn::Connection, megabytes: usize) -> Result<Duration, Failure> {
    let begin = Instant::now();
    let (mut stream, block) = (connection.open_uni().await?, vec![7; BLOCK]);
    let mut left = megabytes * 1_000_000;
    while left > 0 {
        let now = left.min(BLOCK);
        stream.write_all(&block[..now]).await?;
        left -= now;
    }
    stream.finish()?;
    stream.stopped().await?;
    connection.close(0u32.into(), b"");
    Ok(begin.elapsed())
}

async fn receive(quinn_alone: bool, address: Sender<Address>) -> Result<Duration, Failure> {
    let identity = Identity::new()?;
    let fingerprint = identity.fingerprint();
    let tls = server_tls(identity, None, PROTOCOL)?;
    if quinn_alone {
        let config = quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
        let endpoint = quinn::Endpoint::server(config, ANY.parse()?)?;
        address.send((endpoint.local_addr()?, fingerprint))?;
        let connection = endpoint.accept().await.ok_or("the endpoint is open")?.await?;
        return read(&connection).await;
    }
    let endpoint = Endpoint::builder(Choice::new("cubic", &Default::default())?).accept(tls).bind(ANY.parse()?)?;
    address.send((endpoint.quinn().local_addr()?, fingerprint))?;
    let connection = endpoint.accept().await.ok_or("the endpoint is open")?.finish().await?;
    read(&connection).await
}

/// Returns the processor time of this thread.
async fn read(connection: &quinn::Connection) -> Result<Duration, Failure> {
    let mut stream = connection.accept_uni().await?;
    while stream.read_chunk(BLOCK, true).await?.is_some() {}
    connection.closed().await;
    Ok(cpu_time("/proc/thread-self/stat"))
}

/// What the process or thread of this file has used of processors so far, user and system: fields 14 and 15 of
/// proc_pid_stat(5), in ticks of 10 ms.
fn cpu_time(file: &str) -> Duration {
    let stat = std::fs::read_to_string(file).unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    Duration::from_millis(fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10)
}
