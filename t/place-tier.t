#!/bin/bash
. "$(dirname "$0")/tap.sh"
disk() { mkdir -p "$B/tier-test" && echo "file:$B/tier-test"; }
spec=$(disk)
column() { awk -F, -v c="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) k = i; next } { print $k }'; }
tier() { place-tier --bytes=1Mi --seconds=0.05 "$@"; }

is 'a disk is real' 'real' eval 'tier "$spec" | column kind'
is 'and past the page cache, or says that it is not' 'yes' eval 'tier "$spec" | column method | sed "s/o_direct\|buffered/yes/"'
is 'dropping behind is said' 'buffered' eval 'tier "$spec,buffered" | sed s/\"[^\"]*\"/f/ | column method'
is 'memory is memory' 'memory' eval 'tier dram | column method'
tier "emu:100M,50M,0.001" > emu.csv
is 'paced copies are emulated' 'emulated' eval 'sed s/\"[^\"]*\"/e/ emu.csv | column kind'
paced() { sed 's/"[^"]*"/e/' emu.csv | awk -F, 'NR == 2 { exit !($5 <= 100e6 && $6 <= 50e6 && $7 >= 0.001 && $8 >= 0.001) }'; }
ok 'and never faster than asked for' paced
empty() { [ -z "$("$@")" ]; }
ok 'nothing is left in the directory' empty ls -A "$B/tier-test"
fails 'a directory that is not there' 1 'No such file' tier file:no/such/place
touch plain
fails 'a file is no directory' 1 'plain is not a directory' tier file:plain
if [ -d /dev/shm ] && [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; then
    fails 'a memory file system is no slow tier' 1 'lies in memory' tier file:/dev/shm
else
    skip 'a memory file system is no slow tier' 'there is none'
fi
fails 'too little space, with the number' 1 '1000000000000000 bytes of disk are needed, [0-9]* are free' place-tier --need=1000T "$spec"
ok 'a need that can be met' place-tier --need=4096 "$spec"
ok 'and nothing was written' empty ls -A "$B/tier-test"
if [ -d /sys/devices/system/node/node1 ]; then skip 'the only node is no slow tier' 'there are more'
else fails 'the only node is no slow tier' 1 'only node with memory is the fast|node 0 has no memory' tier numa:0; fi
fails 'a node that is not there' 1 'node 1023 has no memory here' tier numa:1023
fails 'a node that is none' 2 "want numa:N" tier numa:x
if tier "dax:$B/tier-test" > /dev/null 2>&1; then skip 'a disk grants no MAP_SYNC' 'this one does'
else fails 'a disk grants no MAP_SYNC' 1 'is not in persistent memory .*MAP_SYNC' tier "dax:$B/tier-test"; fi
fails 'two tiers in one' 2 "'numa:1' is a tier of its own" tier file:no/such,numa:1
fails 'an unknown tier' 2 "unknown tier 'cxl:1'" tier cxl:1
fails 'rates that are none' 2 'want emu:READ,WRITE' tier emu:fast
fails 'a rate of 0' 2 'want emu:READ,WRITE' tier emu:0,1G
fails 'a latency that is none' 2 "latency 'x' is not" tier emu:1G,1G,x
fails 'no tier' 2 'no tier given' place-tier
rmdir "$B/tier-test"
done_testing
