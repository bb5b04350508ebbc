# ns red.tcl FLOWS
# SACK flows over a 50 Mbps bottleneck with adaptive RED in ns-2, for bench/peers/red: prints the mean queue, the share of
# packets dropped and the utilization from 20 to 60 s.

set flows [lindex $argv 0]
remove-all-packet-headers
add-packet-header IP TCP Flags

Queue/RED set thresh_ 30
Queue/RED set maxthresh_ 90
Queue/RED set q_weight_ 0 ;# automatic
Queue/RED set adaptive_ 1
Queue/RED set bottom_ 0.001
Queue/RED set gentle_ true
Queue/RED set wait_ false ;# the count of the 1993 paper
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ 1000
Queue/RED set linterm_ 10

Agent/TCP set packetSize_ 960 ;# and 40 bytes of headers
Agent/TCP set window_ 100000
Agent/TCP set maxcwnd_ 0
Agent/TCP set tcpTick_ 0.001
Agent/TCP set minrto_ 0.2

set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 50Mb 10ms RED
$ns queue-limit $left $right 1000
$ns queue-limit $right $left 1000

for {set i 0} {$i < $flows} {incr i} {
    set source [$ns node]
    set sink [$ns node]
    # Round trips of 40 to 80 ms.
    set delay [expr (10.0 + 20.0 * ($i + 0.5) / $flows) / 2]ms
    $ns duplex-link $source $left 10Gb $delay DropTail
    $ns duplex-link $right $sink 10Gb $delay DropTail
    $ns queue-limit $source $left 100000
    set tcp [new Agent/TCP/Sack1]
    set tcpsink [new Agent/TCPSink/Sack1]
    $ns attach-agent $source $tcp
    $ns attach-agent $sink $tcpsink
    $ns connect $tcp $tcpsink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr 2.0 * $i / $flows] "$ftp start"
}

set monitor [$ns monitor-queue $left $right ""]
set integral [new Integrator]
$monitor set-pkts-integrator $integral

proc begin {} {
    global monitor integral before
    set before [list [$integral set sum_] [$monitor set parrivals_] [$monitor set pdrops_] [$monitor set bdepartures_]]
    $integral newpoint [[Simulator instance] now] [$monitor set pkts_]
    set before [lreplace $before 0 0 [$integral set sum_]]
}
proc finish {} {
    global monitor integral before
    $integral newpoint [[Simulator instance] now] [$monitor set pkts_]
    foreach {sum arrivals drops bytes} $before {}
    puts [format "%.1f %.5f %.4f" \
        [expr ([$integral set sum_] - $sum) / 40.0] \
        [expr ([$monitor set pdrops_] - $drops) / double([$monitor set parrivals_] - $arrivals)] \
        [expr ([$monitor set bdepartures_] - $bytes) * 8 / (40.0 * 50e6)]]
    exit 0
}
$ns at 20.0 "begin"
$ns at 60.0 "finish"
$ns run
