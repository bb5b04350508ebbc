//! Who may be at a server's door at a time: a bounded number of strangers, few of them from one address. It does no
//! I/O.

use std::net::{IpAddr, Ipv6Addr};

/// Strangers at a time, at most. Each costs the state of a handshake, and what it may have under way before its proof.
const PLACES: usize = 32;
/// Strangers at a time from one address, at most.
const PER_ADDRESS: usize = 2;
/// Once this many places are taken, further strangers must show that their address is theirs, by a Retry packet (RFC
/// 9000, section 8.1.2). That costs them a round trip, and keeps packets with forged addresses from taking places.
const UNVALIDATED: usize = 2;
// So nobody goes for a stranger whose address may be forged.
const _: () = assert!(UNVALIDATED <= PER_ADDRESS && UNVALIDATED <= PLACES);

/// The places, the one taken first in front. `T` says who is there.
pub(super) struct Places<T>(Vec<(IpAddr, T)>);

/// What happens to a stranger who arrives.
#[derive(Debug, PartialEq)]
pub(super) enum Arrival<T> {
    /// It must first show that its address is its own.
    Validate,
    /// It gets a place, and the one who was there goes.
    Admit(Option<T>),
}

impl<T> Places<T> {
    pub(super) fn new() -> Places<T> {
        Places(Vec::new())
    }

    /// Decides about a stranger from `address`, which is `validated` or not. A stranger who is admitted takes its place
    /// with [`Places::take`]. If its address has no more places, the one that came first from there goes; if all places
    /// are taken, the one that came first of all.
    pub(super) fn arrive(&mut self, address: IpAddr, validated: bool) -> Arrival<T> {
        let network = network(address);
        let neighbours = self.0.iter().filter(|(there, _)| *there == network).count();
        if !validated && self.0.len() >= UNVALIDATED {
            return Arrival::Validate;
        }
        let goes = if neighbours >= PER_ADDRESS {
            self.0.iter().position(|(there, _)| *there == network)
        } else {
            (self.0.len() >= PLACES).then_some(0)
        };
        Arrival::Admit(goes.map(|index| self.0.remove(index).1))
    }

    /// Gives `who`, from `address`, the newest place.
    pub(super) fn take(&mut self, address: IpAddr, who: T) {
        self.0.push((network(address), who));
    }

    /// Frees the place of whom `is` says yes to.
    pub(super) fn free(&mut self, is: impl Fn(&T) -> bool) {
        self.0.retain(|(_, who)| !is(who));
    }
}

/// What counts as one address: an IPv4 address, or a network of IPv6 with a prefix of 64 bits, of which one host may
/// have all addresses.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(last: u32) -> IpAddr {
        IpAddr::V4(last.into())
    }

    fn admit(places: &mut Places<u32>, address: IpAddr, who: u32) -> Option<u32> {
        let Arrival::Admit(goes) = places.arrive(address, true) else { panic!("a validated address is admitted") };
        places.take(address, who);
        goes
    }

    #[test]
    fn the_oldest_goes_when_all_places_are_taken() {
        let mut places = Places::new();
        for who in 0..PLACES as u32 {
            assert_eq!(admit(&mut places, v4(who), who), None);
        }
        assert_eq!(admit(&mut places, v4(100), 100), Some(0));
        places.free(|who| *who == 1);
        assert_eq!(admit(&mut places, v4(101), 101), None);
        assert_eq!(admit(&mut places, v4(102), 102), Some(2));
    }

    #[test]
    fn an_address_has_two_places_and_takes_no_others() {
        let mut places = Places::new();
        admit(&mut places, v4(1), 1);
        let addresses: [IpAddr; 4] = ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:1:2:3", "::ffff:0.0.0.1"]
            .map(|address| address.parse().unwrap());
        assert_eq!(admit(&mut places, addresses[0], 2), None);
        assert_eq!(admit(&mut places, addresses[1], 3), None);
        assert_eq!(admit(&mut places, addresses[2], 4), Some(2));
        // The same IPv4 address, as a socket for both versions shows it.
        assert_eq!(admit(&mut places, addresses[3], 5), None);
        assert_eq!(admit(&mut places, v4(1), 6), Some(1));
    }

    #[test]
    fn an_address_that_may_be_forged_drives_nobody_out() {
        let mut places = Places::new();
        for who in 0..UNVALIDATED as u32 {
            assert_eq!(places.arrive(v4(who), false), Arrival::Admit(None));
            places.take(v4(who), who);
        }
        assert_eq!(places.arrive(v4(9), false), Arrival::Validate);
        assert_eq!(places.arrive(v4(9), true), Arrival::Admit(None));
    }
}
