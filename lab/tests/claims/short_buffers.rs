//! Many flows of `thalweg` in front of a buffer of a few packets, where losses are the only signal of congestion.

use crate::simulate::{figures, run};

/// While each of these losses was answered by recovery, Jain's index was 0.4 and 0.5.
#[test]
fn behind_a_short_buffer_flows_share_the_path_and_lose_little_more_than_those_of_cubic() {
    for buffer in ["5 packets", "8 packets"] {
        let [(jain, used, lost), (cubic_jain, cubic_used, cubic_lost)] = ["thalweg", "cubic"].map(|controller| {
            let run = run(&format!(
                r#"
                duration = "30 s"
                measure.from = "10 s"
                path = {{ rate = "50 Mbps", rtt = "40 ms", buffer = "{buffer}" }}
                [[flow]]
                controller = "{controller}"
                count = 64
                start = {{ uniform = ["0 s", "2 s"] }}
                "#
            ));
            let figures = figures(&run);
            (figures.jain, figures.links[0].utilization, figures.links[0].drops as f64)
        });
        println!(
            "{buffer}: Jain {jain:.3}, used {used:.3}, {lost} lost; CUBIC {cubic_jain:.3}, {cubic_used:.3}, {cubic_lost}"
        );
        assert!(jain > 0.9 && used > 0.9, "{jain}, {used}");
        assert!(lost < 1.3 * cubic_lost, "{lost}, {cubic_lost}");
    }
}
