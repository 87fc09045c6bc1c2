#!/bin/bash
# machine.sh DIR - a row of each quantity
printf 'clock_hertz,,4e9\nfma_latency_cycles,,4\nfmas_per_cycle,,2\nloads_per_cycle,,2\n' > "$1/clock"
printf 'cache_bytes,1,32768\nway_bytes,2,4096\nlatency_cycles,3,50\nbytes_per_cycle,1,64\n' > "$1/caches"
