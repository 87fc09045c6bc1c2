#!/bin/bash
# what a parent may have closed, ignored, limited or never set: a filter says why it cannot go on, or does what it always does,
# and what it writes into a file is that file's alone
. "$(dirname "$0")/tap.sh"
printf 'a,b\n1,2\n3,4\n' > t.csv
printf 'job,command\nx,echo hi\n' > jobs.csv

# a closed descriptor is the number of the next file that is opened
jobs-do jobs.csv | jobs-log log.csv
cp log.csv before
ok 'messages go nowhere, not into a log that is appended to' bash -c 'sed 1d log.csv | jobs-log log.csv 2>&-; [ "$(head -n 2 log.csv)" = "$(<before)" ] && ! grep jobs-log: log.csv'
cat > note.c <<'C'
#include "base/filter.h"
#include "base/out.h"
#include <stdio.h>
#include <unistd.h>
static const char help[] = "note - says something while it writes\n";
static const struct opt options[] = { { 0 } };
int main(int argc, char **argv)
{
    filter_init(argc, argv, help, options);
    struct out *o = out_open("made");
    fputs("row\n", out_file(o));
    warn("a message");
    puts("to standard output");
    fflush(stdout);
    if (argc > 1) sleep(20);
    out_close(o);
    return access("/proc/self/fd/3", F_OK) == 0;         /* nothing else stays open */
}
C
ok 'a filter that writes a file, a message and standard output' \
    ${CC:-cc} -std=gnu11 -I"$root/lib" -o note note.c "$B/libmillrace.a" -Wl,--as-needed -lm
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-' '<&- 2>&-'; do
    rm -f made
    is "$closed: the file has its own bytes" row bash -c "{ ./note $closed; } > out.note 2> err.note; cat made"
done
fails 'standard input that is closed is not another file' 1 'stdin.: Bad file' bash -c 'csv-join -k a - t.csv <&-'
fails 'standard output that is closed' 1 'write.*: Bad file' bash -c 'csv-cat t.csv >&-'
ok 'one that is not needed' bash -c 'fit-ridge --quiet -y b -o model t.csv >&- && sexp-check model'
is 'what is started finds it closed, as it was' closed \
    bash -c 'prof-record --out=recorded readlink /proc/self/fd/2 2>&- || echo closed'

# a reader that is gone, a limit: nothing half-written stays
left() { find . -name '.millrace-*'; }
rm -f made
ok 'a reader that is gone ends it quietly' bash -c '{ sleep 0.3; exec ./note 2> /dev/null; } | true'
is 'a file in the making goes with it' '' eval 'left; echo'
printf 'problem\n(mm 8 8 8)\n(mm 16 8 8)\n' > p.csv
is 'loop-peer, which outlives its peers, goes quietly as well' 141 bash -c \
    '{ sleep 0.3; trap - PIPE; loop-peer --quiet --lib=ours --rounds=1 --runs=1 p.csv 2> said; echo $? > rc; } | true; cat rc said'
for s in TERM ALRM XCPU; do
    mkfifo fifo.$s
    ./note stop > fifo.$s &
    read -r line < fifo.$s
    kill -s $s $!
    wait $! 2> /dev/null
    is "$s: too" '' eval 'left; echo'
done

# a parent that ignores its children's ends, or blocks signals, does not do so for us
for how in --ignore-signal=CHLD --block-signal; do
    is "$how: who is started is waited for" ok bash -c "env $how jobs-do jobs.csv | csv-cut -c status | sed 1d"
    ok "$how: and timed" env $how bench-run --quiet --warmup=0 --rounds=2 --label=a true
    ok "$how: and traced" env $how prof-record --out="log$how" sh -c true
done

# as many cores as there are, or one: the same bytes
{ seq -s, 40; for i in {1..60}; do for j in {1..39}; do printf '%s,' $RANDOM; done; echo $RANDOM; done; } | sed '1s/[0-9]*/x&/g' > wide.csv
is 'threads of the numeric library change nothing' "$(OPENBLAS_NUM_THREADS=1 fit-pca wide.csv)" env OPENBLAS_NUM_THREADS=2 fit-pca wide.csv
done_testing
