//! A part of a bucket of an object store that has Amazon's interface, such as S3, MinIO or Ceph.
//!
//! Where it is and who asks comes from the environment: `AWS_ENDPOINT_URL` (Amazon's own if not given), `AWS_REGION`,
//! `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or what Amazon's machines have in their place.

use super::refusal::Refusal;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, RetryConfig};
use std::time::Duration;
use tokio::runtime::{self, Runtime};

/// An object that is written and removed to see whether one can be.
const PROBE: &str = ".thalweg";
/// How long a request is tried again.
const RETRY: Duration = Duration::from_secs(30);
/// How often a request is tried again.
const RETRIES: usize = 4;
/// The most characters of an error that are shown.
const SHOWN: usize = 300;

/// The objects of a bucket whose names begin with the same prefix.
pub struct Bucket {
    /// As it was named.
    address: String,
    prefix: Path,
    objects: AmazonS3,
    runtime: Runtime,
}

impl Bucket {
    /// `address` is BUCKET/PREFIX, and `place` what messages call it.
    pub fn open(address: &str, place: &str) -> Result<Bucket, Refusal> {
        let named = if address.is_empty() { place } else { place.trim_end_matches('/') }.to_string();
        let wrong = |why: String| Refusal::Wrong(format!("{named}: {why}"));
        let (bucket, prefix) = address.split_once('/').unwrap_or((address, ""));
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if bucket.is_empty() || !bucket.chars().all(is_name) {
            return Err(wrong("names no bucket; write s3://BUCKET/PREFIX".into()));
        }
        let prefix =
            Path::parse(prefix).map_err(|e| wrong(format!("is no address ({e}); write s3://BUCKET/PREFIX")))?;
        // One provider of cryptography is enough for all connections of the process; another one may be there already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = checked(AmazonS3Builder::from_env()).map_err(wrong)?;
        let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY, ..RetryConfig::default() };
        let objects =
            builder.with_bucket_name(bucket).with_retry(retry).build().map_err(|e| {
                wrong(format!("cannot be used ({}); check the AWS_* environment variables", one_line(&e)))
            })?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Refusal::Failed(format!("{named}: cannot be used ({e})")))?;
        Ok(Bucket { address: named, prefix, objects, runtime })
    }

    /// Fails if objects cannot be written.
    pub fn prepare(&self) -> Result<(), Refusal> {
        self.write(PROBE, Vec::new())?;
        // Some may write and not remove. Then it stays there, and nobody minds.
        let _ = self.runtime.block_on(self.objects.delete(&self.prefix.clone().join(PROBE)));
        Ok(())
    }

    /// The names of the objects.
    pub fn names(&self) -> Result<Vec<String>, Refusal> {
        let list = self.runtime.block_on(self.objects.list_with_delimiter(Some(&self.prefix)));
        let list = list.map_err(|e| self.refusal("listed", &e))?;
        Ok(list.objects.iter().filter_map(|object| object.location.filename().map(str::to_string)).collect())
    }

    /// What is in the object called `name`; none if it is not there.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let location = self.prefix.clone().join(name);
        let got = self.runtime.block_on(async { self.objects.get(&location).await?.bytes().await });
        match got {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(e) => Err(self.refusal("read", &e)),
        }
    }

    /// Writes an object with one request, so that it is there as a whole or not at all.
    pub fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), Refusal> {
        let location = self.prefix.clone().join(name);
        let put = self.runtime.block_on(self.objects.put(&location, bytes.into()));
        put.map(drop).map_err(|e| self.refusal("written", &e))
    }

    /// The object called `name`, as messages call it.
    pub fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.address)
    }

    /// Why nothing can be listed, read or written.
    fn refusal(&self, done: &str, error: &Error) -> Refusal {
        let why = one_line(error);
        let address = &self.address;
        match error {
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => Refusal::Wrong(format!(
                "{address}: cannot be {done}, because the store refuses it ({why}); check AWS_ACCESS_KEY_ID, \
                 AWS_SECRET_ACCESS_KEY and what they allow"
            )),
            Error::NotFound { .. } => {
                Refusal::Wrong(format!("{address}: there is no such bucket; make it, or name another one"))
            }
            _ => Refusal::Failed(format!(
                "{address}: cannot be {done} ({why}); check AWS_ENDPOINT_URL, AWS_REGION and AWS_ACCESS_KEY_ID"
            )),
        }
    }
}

/// The settings of the environment, if requests can be made of them: the library panics if they cannot.
fn checked(mut builder: AmazonS3Builder) -> Result<AmazonS3Builder, String> {
    let plain = [
        ("AWS_ACCESS_KEY_ID", AmazonS3ConfigKey::AccessKeyId),
        ("AWS_SECRET_ACCESS_KEY", AmazonS3ConfigKey::SecretAccessKey),
        ("AWS_SESSION_TOKEN", AmazonS3ConfigKey::Token),
        ("AWS_REGION", AmazonS3ConfigKey::Region),
        ("AWS_DEFAULT_REGION", AmazonS3ConfigKey::DefaultRegion),
    ];
    for (name, key) in plain {
        if builder.get_config_value(&key).is_some_and(|value| !value.chars().all(|c| c.is_ascii_graphic())) {
            return Err(format!("cannot be used, because {name} has a character that no such value has; set it anew"));
        }
    }
    for (name, key) in
        [("AWS_ENDPOINT_URL", AmazonS3ConfigKey::Endpoint), ("AWS_ENDPOINT_URL_S3", AmazonS3ConfigKey::S3Endpoint)]
    {
        let Some(value) = builder.get_config_value(&key) else { continue };
        let url = reqwest::Url::parse(&value).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
        let Some(url) = url.filter(reqwest::Url::has_host) else {
            return Err(format!(
                "cannot be used, because {name} is `{value}`; write one like https://store.example.org"
            ));
        };
        // Whoever gives an address without encryption, for a server of their own, wants it as it is.
        if url.scheme() == "http" {
            builder = builder.with_allow_http(true);
        }
        builder = builder.with_config(key, url.as_str().trim_end_matches('/'));
    }
    Ok(builder)
}

/// An error in one line, which may be the beginning of it.
fn one_line(error: &Error) -> String {
    let text = error.to_string();
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(SHOWN) {
        line.truncate(end);
        line.push_str(" ...");
    }
    line
}
