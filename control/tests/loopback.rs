//! The example `loopback`, a second host in real time: window and rate controllers move data over the loopback
//! interface. How much they move depends on the machine.

#[allow(dead_code)]
#[path = "../examples/loopback.rs"]
mod loopback;

use thalweg_control::{Bytes, Duration};

#[test]
fn the_same_controllers_move_data_in_real_time() {
    for name in ["reno", "thalweg"] {
        let delivered = loopback::transfer(name, Duration::from_secs(1.0)).unwrap();
        println!("{name}: {} bytes", delivered.0);
        assert!(delivered > Bytes(20 * 1200), "{name}: more than the packets that need no acknowledgment");
    }
    assert!(loopback::transfer("rneo", Duration::from_secs(1.0)).is_err());
}
