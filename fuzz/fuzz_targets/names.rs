//! What names and proves something at the ends of a copy: connection strings, keys, files with credentials, names that
//! a peer sends, lines over ssh. No bytes make a reader panic, a connection string is printed as it was read, and no
//! name leads out of its folder.
#![no_main]

use copy::{Address, Key, fuzzing};
use libfuzzer_sys::fuzz_target;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fuzz_target!(|data: &[u8]| {
    match Address::parse(OsStr::from_bytes(data)) {
        Some(Ok(address)) => {
            let key = address.key.map_or(String::new(), |key| format!("{key}@"));
            let again = [format!("thalweg://{key}{}/", address.host).as_bytes(), &address.path].concat();
            assert_eq!(Address::parse(OsStr::from_bytes(&again)), Some(Ok(address)));
        }
        Some(Err(error)) => assert!(error.to_string().lines().count() == 1),
        None => {}
    }
    if let Ok(key) = String::from_utf8_lossy(data).parse::<Key>() {
        assert_eq!(key.to_string().parse(), Ok(key));
    }
    fuzzing::names(data);
    fuzzing::lines(data);
    fuzzing::credentials(data);
});
