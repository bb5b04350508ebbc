# ns xcp.tcl FLOWS SECONDS FROM
# XCP in ns-2 over one 100 Mbps link, 20 ms one way, behind access links that make the flows' round-trip times 60 to 100 ms; 1000-byte packets, an
# acknowledgment per packet, a buffer of 1000 packets; the flows start 100 ms after each other. Prints the throughput in Mbps and the mean
# number of packets that wait, both from FROM on.

set flows [lindex $argv 0]
set seconds [lindex $argv 1]
set from [lindex $argv 2]

Agent/TCP set packetSize_ 960 ;# and 40 bytes of headers
Agent/TCP set window_ 100000
Agent/TCP set maxcwnd_ 0

set ns [new Simulator]
set source [$ns node]
set sink [$ns node]
$ns duplex-link $source $sink 100Mb 20ms XCP
foreach {near far} [list $source $sink $sink $source] {
    $ns queue-limit $near $far 1000
    set link [$ns link $near $far]
    [$link queue] set-link-capacity [[$link set link_] set bandwidth_]
}
set monitor [$ns monitor-queue $source $sink ""]

for {set i 0} {$i < $flows} {incr i} {
    set tcp [new Agent/TCP/Reno/XCP]
    set tcpsink [new Agent/TCPSink/XCPSink]
    set host [$ns node]
    $ns duplex-link $host $source 100Gb [expr 10 + 20 * ($i + 0.5) / $flows]ms DropTail
    $ns queue-limit $host $source 100000
    $ns attach-agent $host $tcp
    $ns attach-agent $sink $tcpsink
    $ns connect $tcp $tcpsink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr 0.1 * $i] "$ftp start"
}

proc totals {} {
    global monitor
    set integrator [$monitor get-pkts-integrator]
    $integrator newpoint [[Simulator instance] now] [$monitor set pkts_]
    return [list [$monitor set bdepartures_] [$integrator set sum_]]
}
proc begin {} {
    global before
    set before [totals]
}
proc finish {} {
    global before seconds from
    foreach {bytes waiting} [totals] {bytes_before waiting_before} $before {}
    set time [expr $seconds - $from]
    puts "[expr ($bytes - $bytes_before) * 8e-6 / $time] [expr ($waiting - $waiting_before) / $time]"
    exit 0
}
$ns at $from "begin"
$ns at $seconds "finish"
$ns run
