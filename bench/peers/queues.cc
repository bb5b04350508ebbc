// Flows over a bottleneck with one of ns-3's queue disciplines: mean queue, shares of packets dropped and marked, and link use.
// Usage: queues DISCIPLINE FLOWS ECN, where DISCIPLINE is codel, fq-codel, pie or dctcp, and ECN is 0 or 1.
//
// The path is that of queues.toml: 50 Mbps and 80 ms with 1000 packets of 1000 bytes, SACK TCP with Reno's window, every packet
// acknowledged, flows that start one after the other in the first 5 s, and a measured interval from 20 to 60 s. For dctcp: 1 Gbps,
// 200 us, packets of 1500 bytes, and a switch that marks what finds more than 20 packets before it.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <string>

using namespace ns3;

static double g_sum = 0;
static double g_samples = 0;
static Ptr<QueueDisc> g_disc;
static Ptr<Queue<Packet>> g_device;
static QueueDisc::Stats g_before;

static void
Sample(Time every)
{
    g_sum += g_disc->GetNPackets() + g_device->GetNPackets();
    g_samples += 1;
    Simulator::Schedule(every, &Sample, every);
}

static void
Begin(Time every)
{
    g_before = g_disc->GetStats();
    Sample(every);
}

int
main(int argc, char* argv[])
{
    const std::string kind = argc > 3 ? argv[1] : "";
    const int flows = argc > 3 ? std::stoi(argv[2]) : 0;
    const bool ecn = argc > 3 && std::string(argv[3]) == "1";
    if (flows < 1 || (kind != "codel" && kind != "fq-codel" && kind != "pie" && kind != "dctcp"))
    {
        std::fprintf(stderr, "usage: queues codel|fq-codel|pie|dctcp FLOWS 0|1\n");
        return 2;
    }
    const bool dctcp = kind == "dctcp";
    const std::string rate = dctcp ? "1Gbps" : "50Mbps";
    const double bits = dctcp ? 1e9 : 50e6;
    const uint32_t packet = dctcp ? 1500 : 1000;
    const Time begin = Seconds(dctcp ? 1 : 20);
    const Time end = Seconds(dctcp ? 5 : 60);
    const Time starts = Seconds(dctcp ? 0.1 : 5);
    const Time every = MicroSeconds(dctcp ? 50 : 5000);

    // PPP adds 2 bytes, IP 20, TCP 20 and its timestamps 12.
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(packet - 54));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(ecn ? "On" : "Off"));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName(dctcp ? "ns3::TcpDctcp" : "ns3::TcpLinuxReno")));

    // Recovery as RFC 6675 has it, and not the proportional rate reduction that is ns-3's default.
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpClassicRecovery")));

    TrafficControlHelper control;
    if (dctcp)
    {
        control.SetRootQueueDisc("ns3::RedQueueDisc",
                                 "UseEcn", BooleanValue(true), "UseHardDrop", BooleanValue(false),
                                 "MeanPktSize", UintegerValue(packet), "QW", DoubleValue(1.0),
                                 "MinTh", DoubleValue(20), "MaxTh", DoubleValue(21), "Gentle", BooleanValue(false),
                                 "LinkBandwidth", StringValue(rate), "LinkDelay", StringValue("50us"),
                                 "MaxSize", StringValue("1000p"));
    }
    else
    {
        const std::string disc = kind == "codel" ? "ns3::CoDelQueueDisc" : kind == "pie" ? "ns3::PieQueueDisc" : "ns3::FqCoDelQueueDisc";
        control.SetRootQueueDisc(disc, "MaxSize", StringValue("1000p"), "UseEcn", BooleanValue(ecn));
    }

    NodeContainer senders;
    senders.Create(flows);
    NodeContainer routers;
    routers.Create(2);
    NodeContainer receivers;
    receivers.Create(1);
    InternetStackHelper stack;
    stack.InstallAll();

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    access.SetChannelAttribute("Delay", StringValue("0us"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue(rate));
    bottleneck.SetChannelAttribute("Delay", StringValue(dctcp ? "100us" : "40ms"));
    // The device holds one packet beside the one in transmission, which counts as waiting; all others wait in the discipline.
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));

    Ipv4AddressHelper addresses;
    addresses.SetBase("10.1.0.0", "255.255.255.0");
    TrafficControlHelper fifo;
    fifo.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("100000p"));
    for (int i = 0; i < flows; i++)
    {
        NetDeviceContainer devices = access.Install(senders.Get(i), routers.Get(0));
        fifo.Install(devices);
        addresses.Assign(devices);
        addresses.NewNetwork();
    }
    NetDeviceContainer middle = bottleneck.Install(routers);
    g_disc = control.Install(middle.Get(0)).Get(0);
    g_device = DynamicCast<PointToPointNetDevice>(middle.Get(0))->GetQueue();
    fifo.Install(middle.Get(1));
    addresses.Assign(middle);
    addresses.NewNetwork();
    NetDeviceContainer last = access.Install(routers.Get(1), receivers.Get(0));
    fifo.Install(last);
    Ipv4InterfaceContainer there = addresses.Assign(last);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    for (int i = 0; i < flows; i++)
    {
        const uint16_t port = 5000 + i;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(receivers).Start(Seconds(0));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(there.GetAddress(1), port));
        source.Install(senders.Get(i)).Start(Time(starts.GetTimeStep() * i / flows));
    }
    Simulator::Schedule(begin, &Begin, every);
    Simulator::Stop(end);
    Simulator::Run();

    const QueueDisc::Stats stats = g_disc->GetStats();
    const double sent = stats.nTotalSentPackets - g_before.nTotalSentPackets;
    const double dropped = stats.nTotalDroppedPackets - g_before.nTotalDroppedPackets;
    const double marked = stats.nTotalMarkedPackets - g_before.nTotalMarkedPackets;
    const double bytes = stats.nTotalSentBytes - g_before.nTotalSentBytes;
    // The discipline does not count the two bytes of PPP.
    const double used = (bytes + 2 * sent) * 8 / (bits * (end - begin).GetSeconds());
    std::printf("%.6g %.6g %.6g %.6g\n", g_sum / g_samples, 100 * dropped / (sent + dropped), 100 * marked / (sent + dropped), 100 * used);
    Simulator::Destroy();
    return 0;
}
