//! Routes over links, and what results call each direction of a link.

use crate::{DirectionSetup, LinkSetup};

/// A route through the network.
#[derive(Clone, Debug)]
pub struct Route {
    /// Indices of the links, in the order in which data crosses them from near to far.
    pub links: Vec<usize>,
    /// Whether data crosses the links from their far end to their near end, last link first. Acknowledgments go the
    /// other way.
    pub reverse: bool,
}

impl Route {
    /// The link directions that data crosses, in order; for acknowledgments (`back`), those that they cross.
    pub fn directions(&self, back: bool) -> Vec<LinkDirection> {
        let reverse = self.reverse != back;
        let mut directions: Vec<_> = self.links.iter().map(|&link| LinkDirection { link, reverse }).collect();
        if reverse {
            directions.reverse();
        }
        directions
    }
}

/// One direction of one of the described links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDirection {
    /// Which link.
    pub link: usize,
    /// Whether from its far end to its near end.
    pub reverse: bool,
}

impl LinkDirection {
    /// Its place in [`Topology::lanes`](super::Topology::lanes).
    pub fn index(self) -> usize {
        2 * self.link + usize::from(self.reverse)
    }

    /// What it is like, as one of the directions of `links`.
    pub fn setup(self, links: &[LinkSetup]) -> &DirectionSetup {
        links[self.link].direction(self.reverse)
    }

    /// What results call it: the link's name, with ` (reverse)` behind it for the direction from far to near.
    pub fn name(self, links: &[LinkSetup]) -> String {
        let name = &links[self.link].name;
        if self.reverse { format!("{name} (reverse)") } else { name.clone() }
    }
}

/// The directions that results list, of as many links as `used` has entries: per link, whether data crosses it forward
/// and in reverse. First comes one direction of each link (the forward one, unless data crosses it in reverse only),
/// then the reverse directions of the links that data crosses both ways.
pub fn listed_directions(used: &[[bool; 2]]) -> Vec<LinkDirection> {
    let only_reverse = |link: usize| used[link] == [false, true];
    let firsts = (0..used.len()).map(|link| LinkDirection { link, reverse: only_reverse(link) });
    let both = (0..used.len()).filter(|&link| used[link] == [true; 2]);
    firsts.chain(both.map(|link| LinkDirection { link, reverse: true })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgments_cross_the_same_links_in_the_opposite_order_and_direction() {
        for reverse in [false, true] {
            let route = Route { links: vec![3, 1, 2], reverse };
            let mut back = route.directions(true);
            back.reverse();
            let opposite = |to: LinkDirection| LinkDirection { reverse: !to.reverse, ..to };
            assert_eq!(route.directions(false), back.into_iter().map(opposite).collect::<Vec<_>>());
        }
        let directions = Route { links: vec![3, 1], reverse: true }.directions(false);
        assert_eq!(directions.iter().map(|to| (to.link, to.reverse)).collect::<Vec<_>>(), [(1, true), (3, true)]);
    }

    #[test]
    fn results_list_each_link_once_and_those_with_data_both_ways_twice() {
        let used = [[false, false], [true, true], [false, true], [true, false]];
        let listed = listed_directions(&used).into_iter().map(|to| (to.link, to.reverse)).collect::<Vec<_>>();
        assert_eq!(listed, [(0, false), (1, false), (2, true), (3, false), (1, true)]);
    }
}
