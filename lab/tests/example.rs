//! The example of a program that evaluates a controller of its own, `examples/evaluate`.

extern crate thalweg_lab as lab;

#[path = "../../examples/evaluate/src/main.rs"]
mod example;

/// It evaluates its controller without a panic, in this workspace's versions of the crates.
#[test]
fn it_runs() {
    example::main();
}
