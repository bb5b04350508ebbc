//! The papers whose tables and figures are reproduced.

use super::record::Record;

/// Each paper's folder in the catalogue, its short name, and its reference.
const PAPERS: [(&str, &str, &str); 7] = [
    ("beyond", "Beyond the papers", "What a reader would ask next. No paper makes these claims: they are ours."),
    (
        "bic",
        "BIC-2004",
        "L. Xu, K. Harfoush, I. Rhee: Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks, INFOCOM 2004",
    ),
    (
        "packet-scale",
        "PACKET-SCALE-2017",
        "R. Lovewell, Q. Yin, T. Zhang, J. Kaur, F. D. Smith: Packet-Scale Congestion Control Paradigm, IEEE/ACM ToN 25(1), 2017",
    ),
    ("rapid", "RAPID-2009", "V. Konda, J. Kaur: RAPID: Shrinking the Congestion-control Timescale, INFOCOM 2009"),
    (
        "rcp-ac",
        "RCP-AC",
        "N. Dukkipati, N. McKeown, A. G. Fraser: RCP-AC: Congestion control to make flows complete quickly in any environment",
    ),
    (
        "rrr",
        "RRR-2008",
        "P. Hága, I. Csabai, F. Tóth, G. Vattay: Relative Rate Reduction Based Control with Adjustable Congestion Level, TRIDENTCOM 2008",
    ),
    (
        "today",
        "Networks of today",
        "What networks and hosts run now: queues that mark and the senders for them, controllers of other papers, slow \
         start and recovery as in recent RFCs. Each artefact names its sources.",
    ),
];

/// A paper, and the records of its artefacts.
pub struct Paper<'a, R = Record> {
    /// Its folder in the catalogue.
    pub folder: &'a str,
    /// Its short name.
    pub name: &'a str,
    /// Authors, title, and where it was published.
    pub about: &'a str,
    /// The records, in the catalogue's order.
    pub records: &'a [R],
}

/// Groups `records`, which are in the catalogue's order, by paper.
pub fn papers<R: AsRef<Record>>(records: &[R]) -> Vec<Paper<'_, R>> {
    let folder = |record: &R| record.as_ref().id.split('/').next().unwrap_or_default().to_string();
    let of_paper = records.chunk_by(move |a, b| folder(a) == folder(b));
    of_paper
        .map(|records| {
            let folder = records[0].as_ref().id.split('/').next().unwrap_or_default();
            let known = PAPERS.iter().find(|(known, ..)| *known == folder);
            let (name, about) = known.map_or((folder, ""), |(_, name, about)| (name, about));
            Paper { folder, name, about, records }
        })
        .collect()
}
