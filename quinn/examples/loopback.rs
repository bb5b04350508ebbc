//! A quinn application with a window controller of Thalweg: 100 MB over loopback.
//!
//! `cargo run --release -p thalweg-quinn --example loopback -- bic`

use quinn::rustls::{RootCertStore, pki_types::PrivatePkcs8KeyDer};
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig};
use std::error::Error;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let controller = std::env::args().nth(1).unwrap_or("bic".into());
    let connection = send(&controller, 100_000_000).await?;
    println!("{controller}: {:?}", connection.stats().path);
    Ok(())
}

/// Sends `bytes` from a client to a server in the same process. Returns the client's connection.
pub async fn send(controller: &str, bytes: usize) -> Result<Connection, Box<dyn Error>> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(thalweg_quinn::factory(controller, &Default::default())?));
    // All else is any quinn application's: a certificate that the client trusts, two endpoints, a stream.
    let made = rcgen::generate_simple_self_signed(["localhost".to_string()])?;
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone())?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = ServerConfig::with_single_cert(vec![made.cert.der().clone()], key.into())?;
    let server = Endpoint::server(config, "127.0.0.1:0".parse()?)?;
    let client = Endpoint::client("127.0.0.1:0".parse()?)?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(Arc::new(transport));
    let connecting = client.connect_with(config, server.local_addr()?, "localhost")?;
    let (near, far) = tokio::join!(connecting, async { server.accept().await.expect("the endpoint is open").await });
    let (near, far) = (near?, far?);
    let (mut stream, data) = (near.open_uni().await?, vec![7; bytes]);
    let read = async { far.accept_uni().await?.read_exact(&mut vec![0; bytes]).await.map_err(Box::<dyn Error>::from) };
    let (sent, received) = tokio::join!(stream.write_all(&data), read);
    let _ = (sent?, received?);
    Ok(near)
}
