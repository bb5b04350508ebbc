//! quinn alone, with what it does unless told otherwise: one file over one stream. `bench/cp` measures `thalweg cp`
//! beside it.
//!
//! `plain serve FILE` prints its port and the fingerprint of its certificate, sends the file to the first who asks and
//! ends; `plain fetch 127.0.0.1:PORT FINGERPRINT FILE` gets it.

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, ServerConfig};
use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use thalweg_wire::{Identity, client_tls, server_tls};

const PROTOCOL: &[u8] = b"plain";
const BLOCK: usize = 256 << 10;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", file] => serve(file).await,
        ["fetch", address, fingerprint, file] => fetch(address, fingerprint, file).await,
        _ => Err("serve FILE, or fetch ADDRESS FINGERPRINT FILE".into()),
    }
}

async fn serve(file: &str) -> Result<(), Box<dyn Error>> {
    let identity = Identity::new()?;
    let fingerprint = identity.fingerprint();
    let crypto = QuicServerConfig::try_from(server_tls(identity, None, PROTOCOL)?)?;
    let endpoint = Endpoint::server(ServerConfig::with_crypto(Arc::new(crypto)), "127.0.0.1:0".parse()?)?;
    println!("{} {fingerprint}", endpoint.local_addr()?.port());
    let connection = endpoint.accept().await.ok_or("the endpoint is open")?.await?;
    let mut stream = connection.open_uni().await?;
    let (mut file, mut block) = (File::open(file)?, vec![0; BLOCK]);
    loop {
        match file.read(&mut block)? {
            0 => break,
            read => stream.write_all(&block[..read]).await?,
        }
    }
    stream.finish()?;
    connection.closed().await;
    Ok(())
}

async fn fetch(address: &str, fingerprint: &str, file: &str) -> Result<(), Box<dyn Error>> {
    let crypto = QuicClientConfig::try_from(client_tls(fingerprint.parse()?, None, PROTOCOL))?;
    let endpoint = Endpoint::client("127.0.0.1:0".parse()?)?;
    let config = ClientConfig::new(Arc::new(crypto));
    let connection = endpoint.connect_with(config, address.parse()?, "thalweg")?.await?;
    let (mut stream, mut file) = (connection.accept_uni().await?, File::create(file)?);
    while let Some(chunk) = stream.read_chunk(BLOCK, true).await? {
        file.write_all(&chunk.bytes)?;
    }
    connection.close(0u32.into(), b"");
    endpoint.wait_idle().await;
    Ok(())
}
