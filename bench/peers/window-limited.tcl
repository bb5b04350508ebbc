# ns window-limited.tcl FLOWS SECONDS HEADERS
# bench/1-flow.toml and bench/100-flows.toml for ns-2: SACK flows over one 1 Gbps link, 50 ms one way, 1000-byte packets, an
# acknowledgment per packet, a window of 12500 packets in all. Prints the data packets delivered.
#
# HEADERS is "all" for ns-2 as it comes, whose packets have room for the headers of every protocol that it knows, or "needed" for
# packets with those in use only, as its manual advises for large simulations.

set flows [lindex $argv 0]
set seconds [lindex $argv 1]
if {[lindex $argv 2] == "needed"} {
    remove-all-packet-headers
    add-packet-header IP TCP Flags
}

set ns [new Simulator]
set source [$ns node]
set sink [$ns node]
$ns duplex-link $source $sink 1Gb 50ms DropTail
$ns queue-limit $source $sink 12500
$ns queue-limit $sink $source 12500

Agent/TCP set packetSize_ 960 ;# and 40 bytes of headers
Agent/TCP set window_ [expr 12500 / $flows]
Agent/TCP set maxcwnd_ 0

for {set i 0} {$i < $flows} {incr i} {
    set tcp($i) [new Agent/TCP/Sack1]
    set tcpsink [new Agent/TCPSink/Sack1]
    $ns attach-agent $source $tcp($i)
    $ns attach-agent $sink $tcpsink
    $ns connect $tcp($i) $tcpsink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at 0.0 "$ftp start"
}

proc finish {} {
    global flows tcp
    set delivered 0
    set again 0
    for {set i 0} {$i < $flows} {incr i} {
        incr delivered [expr int([$tcp($i) set ack_]) + 1]
        incr again [$tcp($i) set nrexmitpack_]
    }
    if {$again > 0} {
        puts stderr "$again packets were sent again: this scenario is to lose none"
        exit 1
    }
    puts $delivered
    exit 0
}
$ns at $seconds "finish"
$ns run
