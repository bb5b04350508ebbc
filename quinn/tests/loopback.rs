//! Real connections of quinn with Thalweg's window controllers.

#[allow(dead_code)]
#[path = "../examples/loopback.rs"]
mod loopback;

#[tokio::test]
async fn connections_send_by_the_window_of_the_controller() {
    // Reno begins with two packets, and quinn's own controllers with ten.
    let begun = loopback::send("reno", 1).await.unwrap().stats().path;
    assert!(begun.cwnd < 12_000, "{begun:?}");
    for controller in ["bic", "cubic-linux", "vegas", "ledbat"] {
        let path = loopback::send(controller, 4_000_000).await.unwrap().stats().path;
        assert!(path.sent_packets > 2700, "{controller}: {path:?}");
        // On loopback the delay tells Vegas to keep its window small.
        assert!(controller == "vegas" || path.cwnd > 15_000, "{controller}: {path:?}");
    }
}

#[tokio::test]
async fn a_controller_that_sets_a_rate_is_refused() {
    let error = loopback::send("bbr", 1).await.unwrap_err();
    assert!(error.to_string().starts_with("`bbr` cannot run in this library"), "{error}");
}
