//! The list of all controllers.

use super::controller::Controller;
use super::family::Family;
use crate::protocol::EcnSupport::{Classic, L4s};
use crate::protocol::Recovery::{NewReno, RackTlp, Sack};
use Family::{DelayWindow, LossWindow, MarkWindow, PacketScale, Rate, RouterAssisted};
use std::sync::{LazyLock, PoisonError, RwLock};

/// The controllers that the program has added.
static ADDED: RwLock<Vec<&'static Controller>> = RwLock::new(Vec::new());

/// Every controller, family by family, in the order in which to list them; then those that the program has added.
pub fn all() -> Vec<&'static Controller> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    ours().iter().chain(added.iter().copied()).collect()
}

/// Adds a controller of the program's own, in place of an added one of the same name. From then on scenarios and runs
/// know it. It is kept in memory until the program ends.
///
/// # Errors
/// If it has the name of one of this crate's controllers.
pub fn add(controller: Controller) -> Result<(), String> {
    if ours().iter().any(|one| one.name == controller.name) {
        return Err(format!("there is a controller `{}` already; choose another name", controller.name));
    }
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    added.retain(|one| one.name != controller.name);
    added.push(Box::leak(Box::new(controller)));
    Ok(())
}

/// This crate's controllers.
fn ours() -> &'static [Controller] {
    static ALL: LazyLock<Vec<Controller>> = LazyLock::new(|| {
        vec![
            Controller::new(
                "thalweg",
                PacketScale,
                Sack,
                "our own, after PACKET-SCALE-2017",
                "RAPID with a narrower stream, steps that tune themselves to the number of flows, and an eye on \
                 queues that stand",
                crate::thalweg::Thalweg::default(),
            ),
            Controller::new(
                "rapid",
                PacketScale,
                Sack,
                "PACKET-SCALE-2017 (Lovewell et al., IEEE/ACM ToN 25(1))",
                "every packet probes: streams of 90 packets with rising rates find the available bandwidth",
                crate::rapid::Rapid::default(),
            ),
            Controller::new(
                "rapid-2009",
                PacketScale,
                Sack,
                "RAPID-2009 (Konda and Kaur, INFOCOM 2009)",
                "the first RAPID: streams of 30 packets, decreases adopted at once",
                crate::rapid::Rapid2009::default(),
            ),
            Controller::new(
                "rapid-hybrid",
                PacketScale,
                Sack,
                "PACKET-SCALE-2017, section VI-C",
                "RAPID where the bandwidth-delay product is large, a window protocol where it is not",
                crate::hybrid::Hybrid::default(),
            ),
            Controller::new(
                "thalweg-hybrid",
                PacketScale,
                Sack,
                "our own, after PACKET-SCALE-2017, section VI-C",
                "thalweg where the bandwidth-delay product is large or packets are lost to errors, CUBIC elsewhere: \
                 what thalweg cp uses",
                crate::hybrid::Hybrid::of_thalweg(),
            ),
            Controller::new(
                "newreno",
                LossWindow,
                NewReno,
                "RFC 5681, RFC 6582",
                "TCP without selective acknowledgments",
                crate::reno::Reno::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "reno",
                LossWindow,
                Sack,
                "RFC 5681, RFC 6675",
                "TCP with selective acknowledgments",
                crate::reno::Reno::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "aimd",
                LossWindow,
                Sack,
                "BIC-2004, section VI",
                "AIMD(a, b): a packets more per round trip, a share b less on a loss",
                crate::aimd::Aimd::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "scalable",
                LossWindow,
                Sack,
                "Kelly, CCR 2003",
                "STCP: growth in proportion to the window",
                crate::scalable::Scalable::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "highspeed",
                LossWindow,
                Sack,
                "RFC 3649",
                "HSTCP: the larger the window, the faster it grows and the less it gives up",
                crate::highspeed::HighSpeed::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "bic",
                LossWindow,
                Sack,
                "BIC-2004, section VI-A",
                "binary search for the window of the last loss",
                crate::bic::Bic::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "bic-linux",
                LossWindow,
                Sack,
                "Linux, tcp_bic.c",
                "BIC with the constants of Linux, but without its integer arithmetic and its special cases near the \
                 maximum, before the first loss and after a timeout",
                crate::bic::Bic::linux(),
            )
            .with_ecn(Classic),
            Controller::new(
                "cubic",
                LossWindow,
                Sack,
                "RFC 9438",
                "a window that is a cubic function of the time since the last loss, and never grows slower than \
                 Reno's",
                crate::cubic::Cubic::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "cubic-rfc9438",
                LossWindow,
                Sack,
                "RFC 9438, RFC 9406, RFC 9937",
                "CUBIC with the slow start and recovery of today's RFCs: HyStart++, proportional rate reduction, and \
                 undoing of losses and timeouts that prove spurious",
                crate::cubic::Cubic::of_rfc_9438(),
            )
            .with_ecn(Classic),
            Controller::new(
                "cubic-linux",
                LossWindow,
                RackTlp,
                "Linux, tcp_cubic.c",
                "CUBIC with the slow start and recovery of Linux: HyStart, RACK-TLP, proportional rate reduction, and \
                 undoing of losses and timeouts that prove spurious; without its pacing and integer arithmetic",
                crate::cubic::Cubic::of_linux(),
            )
            .with_ecn(Classic),
            Controller::new(
                "cubic-2008",
                LossWindow,
                Sack,
                "Ha, Rhee and Xu, SIGOPS OSR 2008",
                "CUBIC as first published: a fifth less on a loss",
                crate::cubic::Cubic::of_2008(),
            )
            .with_ecn(Classic),
            Controller::new(
                "htcp",
                LossWindow,
                Sack,
                "H-TCP (Leith and Shorten, PFLDnet 2004)",
                "grows the faster, the longer ago the last loss was; a loss takes what empties the queue",
                crate::htcp::Htcp::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "westwood",
                LossWindow,
                Sack,
                "Westwood+ (Grieco and Mascolo, CCR 2004)",
                "Reno, but a loss leaves the measured bandwidth times the shortest round-trip time",
                crate::westwood::Westwood::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "vegas",
                DelayWindow,
                Sack,
                "Brakmo and Peterson, JSAC 1995",
                "keeps one to three of its packets in the queue",
                crate::vegas::Vegas::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "fast",
                DelayWindow,
                Sack,
                "FAST TCP (Wei, Jin, Low and Hegde, IEEE/ACM ToN 14(6))",
                "keeps alpha of its packets in the queue, and changes the faster, the further it is from that",
                crate::fast::Fast::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "compound",
                DelayWindow,
                Sack,
                "Compound TCP (Tan, Song, Zhang and Sridharan, INFOCOM 2006)",
                "the sum of Reno's window and another that grows fast while there is no queue",
                crate::compound::Compound::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "illinois",
                DelayWindow,
                Sack,
                "Liu, Basar and Srikant, Performance Evaluation 65, 2008",
                "an AIMD that grows less and gives up more, the longer the queueing delay",
                crate::illinois::Illinois::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "copa",
                DelayWindow,
                Sack,
                "Arun and Balakrishnan, NSDI 2018",
                "moves towards a rate of 1/delta packets per queueing delay, and competes with flows that fill the \
                 buffer",
                crate::copa::Copa::default(),
            ),
            Controller::new(
                "ledbat",
                DelayWindow,
                Sack,
                "RFC 6817",
                "keeps the queueing delay at 100 ms, and so gives way to others; for background transfers",
                crate::ledbat::Ledbat::default(),
            )
            .with_ecn(Classic),
            Controller::new(
                "ledbat-plus-plus",
                DelayWindow,
                Sack,
                "draft-irtf-iccrg-ledbat-plus-plus-01",
                "LEDBAT at 60 ms, with slowdowns that show every flow the path without a queue",
                crate::ledbat::plus_plus::LedbatPlusPlus::default(),
            ),
            Controller::new(
                "dctcp",
                MarkWindow,
                Sack,
                "RFC 8257",
                "gives up half the share of marked packets, and half the window on a loss; for data centres",
                crate::dctcp::Dctcp::default(),
            )
            .with_ecn(L4s),
            Controller::new(
                "prague",
                MarkWindow,
                Sack,
                "draft-briscoe-iccrg-prague-congestion-control-04, RFC 9331",
                "DCTCP made fit for the Internet: the rate does not depend on short round-trip times",
                crate::prague::Prague::default(),
            )
            .with_ecn(L4s),
            Controller::new(
                "rrrp",
                Rate,
                Sack,
                "RRR-2008 (Haga et al., TRIDENTCOM 2008)",
                "relative rate reduction: the receiver reports the rate at which packets arrive, and the sender \
                 exceeds it by the congestion that it aims at",
                crate::rrrp::Rrrp::default(),
            ),
            Controller::new(
                "bbr",
                Rate,
                Sack,
                "draft-ietf-ccwg-bbr-06",
                "BBR version 3: paces at the rate that the path was measured to deliver, and keeps little more in \
                 flight than the path holds",
                crate::bbr::Bbr::default(),
            ),
            Controller::new(
                "bbr-ecn",
                Rate,
                Sack,
                "Linux, tcp_bbr.c of google/bbr v3",
                "BBR version 3 with its response to the share of marked packets, on paths of up to 5 ms; for data \
                 centres",
                crate::bbr::Bbr::with_ecn(),
            )
            .with_ecn(L4s),
            Controller::new(
                "bbr1",
                Rate,
                Sack,
                "Cardwell et al., ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00",
                "BBR version 1: paces at the largest rate that the path has delivered, and takes no loss for congestion",
                crate::bbr1::Bbr1::default(),
            ),
            Controller::new(
                "vivace",
                Rate,
                Sack,
                "PCC Vivace (Dong et al., NSDI 2018)",
                "tries a rate above its own and one below, and moves towards the one with more utility: a high rate, an \
                 RTT that does not grow, few losses",
                crate::vivace::Vivace::default(),
            ),
            Controller::new(
                "rcp-ac",
                RouterAssisted,
                Sack,
                "RCP-AC (Dukkipati, McKeown and Fraser)",
                "approaches RCP's rate as fast as the routers' buffers can absorb; needs links with queue = \"rcp-ac\"",
                crate::rcp_ac::RcpAc::default(),
            ),
            Controller::new(
                "rcp",
                RouterAssisted,
                Sack,
                "RCP-AC, equation 1 (Dukkipati et al., IWQoS 2005)",
                "sends at the rate that the routers allow every flow; needs links with queue = \"rcp\"",
                crate::rcp::Rcp::default(),
            ),
            Controller::new(
                "xcp",
                RouterAssisted,
                Sack,
                "XCP (Katabi, Handley and Rohrs, SIGCOMM 2002)",
                "a window that each packet's feedback changes; needs links with queue = \"xcp\"",
                crate::xcp::Xcp::default(),
            ),
        ]
    });
    &ALL
}

/// The controller with this name.
pub fn find(name: &str) -> Option<&'static Controller> {
    all().into_iter().find(|c| c.name == name)
}

impl Family {
    /// The family's controllers, in the order in which to list them.
    pub fn controllers(self) -> impl Iterator<Item = &'static Controller> {
        all().into_iter().filter(move |controller| controller.family == self)
    }
}
