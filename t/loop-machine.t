#!/bin/bash
. "$(dirname "$0")/tap.sh"

if loop-machine > m.csv 2> err; then
    # what is true of every x86-64 with these instructions, however busy it is: no figure is compared with a clock
    is 'every quantity is there, that of tiles where they are' 'clock_hertz fma_latency_cycles fmas_per_cycle loads_per_cycle' \
        bash -c "csv-calc --where='!known(level)' m.csv | csv-cut -c what | sed '1d;/tile_multiply/d' | paste -sd ' '"
    is 'of three caches' '1 2 3' bash -c "csv-where -c what --is=cache_bytes m.csv | csv-cut -c level | tail -n +2 | paste -sd ' '"
    is 'all of them positive' 0 bash -c "csv-calc --where='!(value > 0)' m.csv | tail -n +2 | wc -l"
    is 'each cache is larger than the one before' 0 \
        bash -c "csv-where -c what --is=cache_bytes m.csv | csv-calc --where='value <= lag(value)' | tail -n +2 | wc -l"
    loop-gen --kind=mm --m=64 --n=64 --k=64 --test=0 | loop-act > p.csv
    # a machine twice as fast in everything that the model counts is twice as fast
    csv-calc --where='what == "clock_hertz"' --set='value=4e9' m.csv > slow.csv
    csv-calc --set='value=8e9' slow.csv > fast.csv
    for f in slow fast; do MILLRACE_LOOP_MACHINE=$f.csv loop-run --eval=model p.csv | csv-cut -c seconds > $f; done
    is 'the model reads the table' 2 bash -c "echo \$(csv-calc --print=seconds slow) \$(csv-calc --print=seconds fast) |
        python3 -c 'a, b = map(float, input().split()); print(round(a / b))'"
    csv-calc --set='machine="another"' fast.csv > other.csv
    is 'rows of another machine do not count' 0 bash -c "MILLRACE_LOOP_MACHINE=other.csv loop-run --eval=model p.csv > x
        loop-run --eval=model p.csv | diff - x | wc -l"
    sed 's/clock_hertz/clock_herz/' fast.csv > bad.csv
    fails 'an unknown quantity' 1 "bad.csv:2: column 'what': .*a quantity that loop-machine writes" \
        env MILLRACE_LOOP_MACHINE=bad.csv loop-run --eval=model p.csv
    csv-calc --set='value=-1' fast.csv > bad.csv
    fails 'no positive number' 1 "bad.csv:2: column 'value': .*a positive number" \
        env MILLRACE_LOOP_MACHINE=bad.csv loop-run --eval=model p.csv
else
    skip 'the machine' 'neither AVX-512 nor AVX2 here'
fi
loop-machine --peak --rounds=3 > peak.csv
is 'the peak of each instruction set' 'isa,gflops,machine' head -1 peak.csv
ok 'is plausible' awk -F, 'NR > 1 { n++; if ($2 < 1 || $2 > 1000) bad = 1 } END { exit bad || !n }' peak.csv
is 'only the one asked for' avx2 bash -c 'loop-machine --peak --isa=avx2 --rounds=1 | tail -1 | cut -d, -f1'
fails 'no peak of tiles' 2 'of vectors' loop-machine --peak --isa=amx
fails 'no operands' 2 'there are no operands' loop-machine x
done_testing
