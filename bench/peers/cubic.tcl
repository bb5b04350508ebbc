# ns cubic.tcl MBPS
# One transfer of ns-2's own CUBIC (its Linux agent) on an idle path of 100 ms with a buffer of one bandwidth-delay product, for
# bench/peers/cubic: prints after how many round trips it has the link, and how many packets were dropped by then. It has the link
# when for 10 round trips it acknowledges, in each 250 ms, at the link's rate to 5 %: in leaps, when a hole is filled, does not count.

set rate [lindex $argv 0]
set end 60.0
remove-all-packet-headers
add-packet-header IP TCP Flags

set ns [new Simulator]
set source [$ns node]
set left [$ns node]
set right [$ns node]
set sink [$ns node]
$ns duplex-link $source $left 10Gb 1ms DropTail
$ns duplex-link $left $right ${rate}Mb 48ms DropTail
$ns duplex-link $right $sink 10Gb 1ms DropTail
$ns queue-limit $left $right [expr int($rate * 1e6 * 0.1 / 8 / 1040)]
foreach {from to} [list $source $left $right $left $left $source $right $sink $sink $right] {
    $ns queue-limit $from $to 1000000
}

set tcp [new Agent/TCP/Linux]
set tcpsink [new Agent/TCPSink/Sack1]
$tcp set packetSize_ 1000 ;# and 40 bytes of headers
$tcp set window_ 10000000
$tcp set timestamps_ true
$tcpsink set ts_echo_rfc1323_ true
$ns attach-agent $source $tcp
$ns attach-agent $sink $tcpsink
$ns connect $tcp $tcpsink
$ns at 0 "$tcp select_ca cubic"
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0 "$ftp start"

set monitor [$ns monitor-queue $left $right ""]
set acknowledged 0
set steady 0
proc look {} {
    global ns tcp monitor rate acknowledged steady
    set now [$ns now]
    set share [expr ([$tcp set ack_] - $acknowledged) * 1040 * 8 / 0.25 / ($rate * 1e6)]
    set acknowledged [$tcp set ack_]
    set steady [expr $share > 0.95 && $share < 1.05 ? $steady + 1 : 0]
    if {$steady == 4} {
        puts "[expr round(($now - 1) / 0.1)] [$monitor set pdrops_]"
        exit 0
    }
    $ns at [expr $now + 0.25] look
}
$ns at 0.25 look
$ns at $end "puts {never 0}; exit 0"
$ns run
