//! The example runs.

#[allow(dead_code)]
#[path = "../examples/send.rs"]
mod send;

#[tokio::test]
async fn the_example_runs_with_any_controller() {
    for (controller, ecn) in [("thalweg", false), ("bbr", false), ("cubic", true)] {
        send::send(controller, ecn, 1).await.unwrap();
    }
    let wrong = send::send("rabid", false, 1).await.unwrap_err();
    assert!(wrong.to_string().starts_with("no controller `rabid`"), "{wrong}");
}
