#!/bin/bash
. "$(dirname "$0")/tap.sh"
line() { # STEP STATIC SECONDS: 51 fields
    echo "$1,h,$(seq -s, 3 49),$2,$3"
}
{ line /r/opt_data/initial/0/x N/A 2; line /r/opt_data/initial/0/x 100 2; line /r/opt_data/1/0/x 100 1.5; } > a.csv
: > b.csv
flambda-counters a.csv b.csv > c.csv
is 'a header, N/A empty, a file without rows a row of its own' 'a /r/opt_data/initial/0/x  2|a /r/opt_data/initial/0/x 100 2|a /r/opt_data/1/0/x 100 1.5|b   |' bash -c "csv-cut -c benchmark,step,static_instructions,seconds c.csv | awk -F, 'NR > 1 { printf \"%s %s %s %s|\", \$1, \$2, \$3, \$4 } END { print \"\" }'"
is 'columns stand where they belong' '3 17 19 49 real' bash -c "csv-cut -c major_collections,first_branches,again_branches,dtlb_stores,kind c.csv | sed -n 2p | tr , ' '"
fails 'a short line is refused' 1 'd.csv:1: 3 fields' bash -c 'echo a,b,3 > d.csv; flambda-counters d.csv'
fails 'text among the numbers is refused' 1 "e.csv:1: column 'seconds': 'x'" bash -c "$(declare -f line); line s 1 x > e.csv; flambda-counters e.csv"
fails 'a git-LFS pointer is refused' 1 'f.csv:1: a git-LFS pointer' bash -c 'echo version https://git-lfs.github.com/spec/v1 > f.csv; flambda-counters f.csv'
# a run folder, written after the study's description of it; the row is that of its table
gc=''
for c in minor_words=64 promoted_words=63 major_words=62 minor_collections=105 major_collections=0 heap_words=61 heap_chunks=3 \
    top_heap_words=60 live_words=59 live_blocks=58 free_words=57 free_blocks=56 largest_free=55 fragments=24 compactions=1; do
    gc="$gc(${c%=*} ${c#*=})"
done
perf() { for c; do printf '((name %s)(value %s)(measured_ns 5)(scaled_from 100))' "${c%=*}" "${c#*=}"; done; }
first=$(perf branches=17 branch-misses=18 branches=17 branch-misses=18 L1-icache-load-misses=21 branch-load-misses=22 branch-loads=23 \
    iTLB-load-misses=24 iTLB-loads=25 cpu-cycles=26 instructions:u=27)
second=$(perf branches=28 branch-misses=29 L1-icache-load-misses=30 branch-load-misses=31 branch-loads=32 iTLB-load-misses=33 \
    iTLB-loads=34 cpu-cycles=35 instructions=36 L1-dcache-load-misses=37 L1-dcache-loads=38 L1-dcache-stores=39 LLC-loads=40 \
    LLC-stores=41 cache-misses=42 bus-cycles=43 cache-references=44 ref-cycles=45 dTLB-load-misses=46 dTLB-loads=47 \
    dTLB-store-misses=48 dTLB-stores=49)
put() { mkdir -p "rd/opt_data/$1"; echo "$2" > "rd/opt_data/$1/execution_stats.sexp"; }
put initial/0 "((raw_execution_time (2s 8s))(worker_hostname 192.168.0.10)(gc_stats \"\")(parsed_gc_stats ($gc))(perf_stats (($first)($second))))"
put 10/1 '((raw_execution_time (0.05m))(gc_stats "minor_collections:      7\nheap_words: 9\n"))'
put 2/current "((raw_execution_time (1s 1s))(worker_hostname (h))(gc_stats \"\")(parsed_gc_stats (($gc)))(perf_stats ((($first)($second)))))"
mkdir -p rd/opt_data/initial/current rd/opt_data/notes/0 && echo 1234 > rd/opt_data/initial/current/instruction_count.txt
echo 99 > rd/opt_data/10/1/instruction_count.txt
flambda-counters --benchmark=fft rd/ > rd.csv
step=rd/opt_data/initial/0/execution_stats.sexp
echo "$step,192.168.0.10,0,105,1,64,63,62,60,61,59,57,55,24,58,3,17,18,17,18,$(seq -s, 21 49),1234,4" > fft.csv
is 'a run folder: the row as the study tabled it' "$(flambda-counters fft.csv | sed -n 2p)" sed -n 2p rd.csv
is 'steps and executions in order of their numbers; options in their own list' \
    'fft,rd/opt_data/2/current/execution_stats.sexp,h,105,49,,1 fft,rd/opt_data/10/1/execution_stats.sexp,,7,,99,3' bash -c \
    "csv-cut -c benchmark,step,host,minor_collections,dtlb_stores,static_instructions,seconds rd.csv | tail -n 2 | paste -sd' '"
is 'what else lies there is no execution; a folder gives its name' '4 rd' bash -c \
    'flambda-counters rd > own.csv; echo $(wc -l < own.csv) $(csv-cut -c benchmark own.csv | tail -1)'
mkdir -p empty/opt_data
is 'a search that had no execution is a row with its name' empty, bash -c 'flambda-counters empty | csv-cut -c benchmark,step | tail -1'
fails 'a folder that is no run folder' 1 'notes/opt_data: No such file' bash -c 'mkdir notes; flambda-counters notes'
put 11/0 '((raw_execution_time (fast)))'
fails 'a time that is none' 1 "11/0/execution_stats.sexp:1.*'fast' is not a time" flambda-counters rd
put 11/0 '((raw_execution_time (1s))(perf_stats ((((name branches)))())))'
fails 'a counter without its value' 1 '11/0/execution_stats.sexp:1' flambda-counters rd
put 11/0 '((raw_execution_time (1s'
fails 'a file cut short' 1 '11/0/execution_stats.sexp:2:1: 3 unclosed lists' flambda-counters rd
done_testing
