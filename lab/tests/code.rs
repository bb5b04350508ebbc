//! What the names of the code depend on: `build/code.rs`, which the build script uses.

#[path = "../build/code.rs"]
mod code;

use code::Code;
use std::path::{Path, PathBuf};

/// The tokens of a source in `src/one.rs`.
fn tokens(text: &str) -> String {
    Code::default().read(Path::new("src/one.rs"), text)
}

#[test]
fn comments_documentation_format_and_tests_do_not_count() {
    let code = tokens("#[derive(Clone)]\npub struct One { pub x: f64 }\nfn f() -> f64 { 1.0 }");
    for same in [
        "//! A module.\n\n/// A struct.\n#[derive(Clone)]\npub struct One {\n    /// A field.\n    pub x: f64\n}\nfn f() -> f64 { 1.0 }",
        "#[derive(Clone)] pub struct One { pub x: f64 } /* why */ fn f() -> f64 { // because\n 1.0 }",
        "#[derive(Clone)] pub struct One { pub x: f64 } fn f() -> f64 { 1.0 } #[cfg(test)] mod tests { fn g() {} }",
        "#[cfg(test)] use std::fmt; #[derive(Clone)] pub struct One { pub x: f64 } fn f() -> f64 { 1.0 }",
    ] {
        assert_eq!(tokens(same), code, "{same}");
    }
}

#[test]
fn everything_else_counts() {
    let code = tokens("#[derive(Clone)] pub struct One { pub x: f64 } fn f() -> f64 { 1.0 }");
    for other in [
        "#[derive(Copy)] pub struct One { pub x: f64 } fn f() -> f64 { 1.0 }",
        "#[derive(Clone)] pub struct One { pub x: f64 } fn f() -> f64 { 1.1 }",
        "#![allow(unused)] #[derive(Clone)] pub struct One { pub x: f64 } fn f() -> f64 { 1.0 }",
        "#[cfg(unix)] #[derive(Clone)] pub struct One { pub x: f64 } fn f() -> f64 { 1.0 }",
    ] {
        assert_ne!(tokens(other), code, "{other}");
    }
}

#[test]
fn files_of_test_modules_are_found() {
    let mut code = Code::default();
    code.read(Path::new("src/one.rs"), "mod real; #[cfg(test)] mod tests;");
    code.read(Path::new("src/two/mod.rs"), "#[cfg(test)] pub mod testing;");
    let expected = ["src/one/tests", "src/one/tests.rs", "src/two/testing", "src/two/testing.rs"].map(PathBuf::from);
    assert_eq!(code.tests, expected);
}
