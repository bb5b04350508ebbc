//! A quinn application with a controller of its choice: some megabytes over loopback.
//!
//! `cargo run --release -p thalweg-wire --example send -- rapid 100`, or `-- cubic 100 ecn` with ECN-capable packets

use std::error::Error;
use thalweg_wire::{Choice, Endpoint, Identity, server_tls};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let controller = args.next().unwrap_or("thalweg".into());
    let megabytes = args.next().map_or(Ok(1), |text| text.parse())?;
    send(&controller, args.next().is_some_and(|text| text == "ecn"), megabytes).await
}

/// Sends data over loopback, from a client to a server in the same process.
pub async fn send(controller: &str, ecn: bool, megabytes: usize) -> Result<(), Box<dyn Error>> {
    // The client knows the server by its certificate's fingerprint. What a server sends has a controller, too.
    let identity = Identity::new()?;
    let fingerprint = identity.fingerprint();
    let tls = server_tls(identity, None, b"example")?;
    let server = Endpoint::builder(Choice::new("cubic", &Default::default())?).accept(tls);
    let server = server.bind("127.0.0.1:0".parse()?)?;
    let choice = Choice::new(controller, &Default::default())?;
    let choice = if ecn { choice.with_ecn()? } else { choice };
    let client = Endpoint::builder(choice).bind("127.0.0.1:0".parse()?)?;
    let connecting = client.connect_pinned(server.quinn().local_addr()?, fingerprint, b"example");
    let (near, far) =
        tokio::join!(connecting, async { server.accept().await.expect("the endpoint is open").finish().await });
    let (near, far) = (near?, far?);

    // From here on all is quinn's, except `state`, `stamps` and `ecn`.
    let (mut stream, data) = (near.open_uni().await?, vec![7; megabytes * 1_000_000]);
    let (sent, received) = tokio::join!(stream.write_all(&data), async {
        far.accept_uni().await?.read_exact(&mut vec![0; data.len()]).await.map_err(Box::<dyn Error>::from)
    });
    sent?;
    received?;
    let (state, packets) = (near.state(), near.stats().path.sent_packets);
    println!("{controller}: {megabytes} MB in {packets} packets, {state:?}, {:?}, {:?}", near.stamps(), near.ecn());
    Ok(())
}
