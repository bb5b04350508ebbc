//! Where the files of shards are kept: a folder, or a part of a bucket of an object store.

#[cfg(feature = "object-store")]
use super::bucket::Bucket;
use super::refusal::Refusal;
use crate::files;
use crate::results::rows::Out;
use scenario::reason;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What the address of a place in an object store begins with.
const SCHEME: &str = "s3://";

/// A place for files, each of which is there as a whole or not at all.
pub enum Store {
    Folder(PathBuf),
    #[cfg(feature = "object-store")]
    Bucket(Bucket),
}

/// Whether `place` is in an object store: `s3://BUCKET/PREFIX`.
pub fn is_object_store(place: &Path) -> bool {
    place.to_str().is_some_and(|it| it.starts_with(SCHEME))
}

impl Store {
    /// The store at `place`: the name of a folder, or `s3://BUCKET/PREFIX`.
    pub fn open(place: &Path) -> Result<Store, Refusal> {
        match place.to_str().and_then(|it| it.strip_prefix(SCHEME)) {
            None => Ok(Store::Folder(place.to_path_buf())),
            #[cfg(feature = "object-store")]
            Some(address) => Bucket::open(address, &place.to_string_lossy()).map(Store::Bucket),
            #[cfg(not(feature = "object-store"))]
            Some(_) => Err(Refusal::Wrong(format!(
                "{}: this program was built without object stores; use the Python package, build it with --features \
                 object-store, or name a folder",
                place.display()
            ))),
        }
    }

    /// Makes the folder if it is not there, and fails if files cannot be written. A shard may take hours: so this is
    /// tried before.
    pub fn prepare(&self) -> Result<(), Refusal> {
        match self {
            Store::Folder(folder) => {
                fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder)).map(drop).map_err(|e| {
                    let why = reason(&e);
                    Refusal::Wrong(format!("{}: cannot be written ({why}); name another folder", folder.display()))
                })
            }
            #[cfg(feature = "object-store")]
            Store::Bucket(bucket) => bucket.prepare(),
        }
    }

    /// The names of the files.
    pub fn names(&self) -> Result<Vec<String>, Refusal> {
        match self {
            Store::Folder(folder) => {
                let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
                let entries = entries.map_err(|e| {
                    let why = reason(&e);
                    Refusal::Wrong(format!(
                        "{}: cannot be read ({why}); check its name and permissions",
                        folder.display()
                    ))
                })?;
                Ok(entries.iter().filter_map(|entry| entry.file_name().into_string().ok()).collect())
            }
            #[cfg(feature = "object-store")]
            Store::Bucket(bucket) => bucket.names(),
        }
    }

    /// What is in the file called `name`; none if it is not there.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        match self {
            Store::Folder(folder) => match fs::read(folder.join(name)) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(e) => Err(Refusal::Failed(format!(
                    "{}: cannot be read ({}); remove it, and run its shard again",
                    self.path(name),
                    reason(&e)
                ))),
            },
            #[cfg(feature = "object-store")]
            Store::Bucket(bucket) => bucket.read(name),
        }
    }

    /// Writes `bytes` as the file called `name`, in place of one that is there.
    pub fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), Refusal> {
        match self {
            Store::Folder(_) => self.fill(name, |out| {
                out.write_all(&bytes)
                    .map_err(|e| Refusal::Failed(format!("{}: cannot be written ({})", self.path(name), reason(&e))))
            }),
            #[cfg(feature = "object-store")]
            Store::Bucket(bucket) => bucket.write(name, bytes),
        }
    }

    /// Writes what `fill` writes as the file called `name`, in place of one that is there. For an object store, it is
    /// in memory until it is complete.
    pub fn fill(&self, name: &str, fill: impl FnOnce(Out) -> Result<(), Refusal>) -> Result<(), Refusal> {
        match self {
            Store::Folder(folder) => {
                let mut filled = Ok(());
                let written = files::write(&folder.join(name), |out| {
                    filled = fill(out);
                    filled.is_ok().then_some(()).ok_or_else(|| io::ErrorKind::Other.into())
                });
                filled?;
                written.map_err(|e| Refusal::Failed(format!("{}: cannot be written ({})", self.path(name), reason(&e))))
            }
            #[cfg(feature = "object-store")]
            Store::Bucket(bucket) => {
                let mut bytes = Vec::new();
                fill(&mut bytes)?;
                bucket.write(name, bytes)
            }
        }
    }

    /// A file without a name, for what is in no memory until the files of a shard are written: in the same folder, or,
    /// beside an object store, in the system's folder for such files.
    pub fn temporary(&self) -> Result<File, Refusal> {
        let (file, folder) = match self {
            Store::Folder(folder) => (tempfile::tempfile_in(folder), folder.clone()),
            #[cfg(feature = "object-store")]
            Store::Bucket(_) => (tempfile::tempfile(), std::env::temp_dir()),
        };
        file.map_err(|e| Refusal::Failed(format!("{}: cannot be written ({})", folder.display(), reason(&e))))
    }

    /// The file called `name`, as messages call it.
    pub fn path(&self, name: &str) -> String {
        match self {
            Store::Folder(folder) => folder.join(name).display().to_string(),
            #[cfg(feature = "object-store")]
            Store::Bucket(bucket) => bucket.path(name),
        }
    }
}
