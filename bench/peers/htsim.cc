// TCP flows through csg-htsim's own senders and receivers over the path of bench/1-flow.toml and
// bench/100-flows.toml: 1 Gbps and 50 ms each way, DropTail, packets of 1000 bytes, an acknowledgment for each, windows
// that share the bandwidth-delay product, no loss. Prints the number of packets that arrived.
// bench/peers/run compiles it against the sources of csg-htsim, a simulator of data centres.
// Usage: htsim FLOWS SECONDS
#include "clock.h"
#include "config.h"
#include "eventlist.h"
#include "logfile.h"
#include "loggers.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "tcp.h"
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <vector>

namespace {
constexpr int packet = 1000, product = 12500;

// A sender whose window does not grow beyond its share.
struct Sender : TcpSrc {
    Sender(EventList &events, int share) : TcpSrc(NULL, NULL, events) {
        _maxcwnd = share * _mss;
        set_ssthresh(_maxcwnd); // it would begin at 100 packets
    }
};
}

int main(int argc, char **argv) {
    if (argc != 3) return std::cerr << "usage: htsim FLOWS SECONDS\n", 2;
    const int flows = std::atoi(argv[1]);
    EventList events;
    events.setEndtime(timeFromSec(std::atof(argv[2])));
    Packet::set_packet_size(packet);
    const linkspeed_bps rate = speedFromMbps((uint64_t)1000);
    Queue out(rate, memFromPkt(product), events, NULL), back(rate, memFromPkt(product), events, NULL);
    Pipe there(timeFromMs(50), events), here(timeFromMs(50), events);
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    std::vector<TcpSink *> sinks;
    for (int flow = 0; flow < flows; ++flow) {
        auto *source = new Sender(events, product / flows);
        auto *sink = new TcpSink();
        timers.registerTcp(*source);
        auto *to = new Route(), *from = new Route();
        for (PacketSink *hop : std::initializer_list<PacketSink *>{&out, &there, sink}) to->push_back(hop);
        for (PacketSink *hop : std::initializer_list<PacketSink *>{&back, &here, source}) from->push_back(hop);
        source->connect(*to, *from, *sink, 0);
        sinks.push_back(sink);
    }
    while (events.doNextEvent()) {}
    unsigned long packets = 0;
    for (auto *sink : sinks) packets += sink->cumulative_ack() / packet;
    std::cout << packets << '\n';
}
