//! The example runs.

#[allow(dead_code)]
#[path = "../examples/send.rs"]
mod send;

#[tokio::test]
async fn the_example_runs_with_any_controller() {
    for controller in ["thalweg", "bbr"] {
        send::send(controller, 1).await.unwrap();
    }
    let wrong = send::send("rabid", 1).await.unwrap_err();
    assert!(wrong.to_string().starts_with("no controller `rabid`"), "{wrong}");
}
