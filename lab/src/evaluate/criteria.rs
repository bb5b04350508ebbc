//! The sections of RFC 9743 that ask for what evaluations compare.

/// Sections, and what the RFC calls them.
const SECTIONS: [(&str, &str); 18] = [
    ("5.1.1", "Protection against congestion collapse"),
    ("5.1.2", "Protection against bufferbloat"),
    ("5.1.3", "Protection against high packet loss"),
    ("5.1.4", "Fairness within the proposed algorithm"),
    ("5.1.5", "Short flows"),
    ("5.2.1", "Existing general-purpose congestion control"),
    ("5.2.2", "Real-time congestion control"),
    ("5.2.3", "Short and long flows"),
    ("6.1", "Paths with tail-drop queues"),
    ("6.3", "Wired paths"),
    ("6.4", "Wireless paths"),
    ("7.1", "Active queue management"),
    ("7.3", "Paths with varying delay"),
    ("7.4", "Internet of Things and constrained nodes"),
    ("7.6", "Misbehaving nodes"),
    ("7.7", "Extreme packet reordering"),
    ("7.8", "Transient events"),
    ("7.9", "Sudden changes in the path"),
];

/// What the RFC calls the section `criterion`; empty if it is none of those with criteria that can be measured.
pub fn title(criterion: &str) -> &'static str {
    SECTIONS.iter().find(|(section, _)| *section == criterion).map_or("", |(_, title)| title)
}

/// The numbers of a section, by which sections are in order: 7.10 comes after 7.9.
pub(super) fn order(criterion: &str) -> Vec<u32> {
    criterion.split('.').map(|part| part.parse().unwrap_or(u32::MAX)).collect()
}
