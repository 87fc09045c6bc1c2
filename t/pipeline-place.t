#!/bin/bash
# make figure7 at its smallest, on a real disk: complete, resumable, never measured twice.
. "$(dirname "$0")/tap.sh"
out=$B/pipeline-place
rm -rf "$out"
figure() { make -s -C "$root" SCALE=test PLACE_STEPS=2 PLACE_ROUNDS=1 PLACE_AGAIN=0 PLACE_RATIOS='1:1 2:1' \
    PLACE_STUDY_RATIOS='2:1 1:1' PLACE_LARGE=vgg19-8-64 PLACE_LARGE_LIMIT=20M PLACE_PAGED_STEPS=1 PLACE_PAGED_RATIO=2:1 \
    OUT="$out" B="$B" BIN="$BIN" "$@"; }
results=$out/place/results.csv
ok 'figures 7 to 11 are made' figure figure7 figure8 figure9 figure10 figure11
is 'columns of figure 7' 'network,batch,formulation,ratio,step_seconds,speedup_over_slow_ratio,lower_ratio,upper_ratio,loss_ratio,lower_loss_ratio,upper_loss_ratio,least_loss_ratio,rounds,reached_ratio,ratio_off,kind' head -1 "$out/figure7.csv"
is 'one row for each run' 'resnet50 async 1:1
resnet50 async 2:1
resnet50 fast 0:1
resnet50 numa 1:1
resnet50 numa 2:1
resnet50 slow 1:0
resnet50 static 1:1
resnet50 static 2:1
resnet50 sync 1:1
resnet50 sync 2:1' eval 'sed 1d "$out/figure7.csv" | cut -d, -f1,3,4 | tr , " " | sort'
is 'figure 10 has its own sizes and both ends' 'async 1:1 async 2:1 fast 0:1 slow 1:0 static 1:1 static 2:1 sync 1:1 sync 2:1' \
    eval 'sed 1d "$out/figure10.csv" | cut -d, -f3,4 | tr , " " | sort | paste -sd" "'
is 'figure 8 compares with a cache' 'static cache simulated
sync cache simulated' eval 'sed 1d "$out/figure8.csv" | cut -d, -f3,6,12 | tr , " " | grep cache'
if "$root/pipelines/limited" 100000000 true; then
    is 'and with what the system pages in the same memory' 'async paged real' \
        eval 'sed 1d "$out/figure8.csv" | cut -d, -f3,6,12 | tr , " " | grep paged'
else
    skip 'and with what the system pages in the same memory' 'no right to make a memory cgroup'
fi
is 'all of them real' real eval 'sed 1d "$out/figure7.csv" | cut -d, -f16 | sort -u'
losses() { for f in "$out"/place/*/*.{run*,limited}.csv; do [ ! -e "$f" ] || { cut -d, -f1,4 "$f" | sed 1d | tr '\n' ' '; echo; }; done | sort -u | wc -l; }
is 'one loss for all placements, to the last bit' 1 losses
verified() { for f in "$out"/place/{resnet50*,study/*}/*.plan; do d=$(dirname "$f"); place-check --profile="$d/profile.csv" --plan="$f" "$d/graph.sexp" || return 1; done; }
ok 'place-check accepts every plan' verified
large() { d=$out/place/large/vgg19-8-64; for f in "$d".*.plan; do place-check --profile="$d.profile.csv" --plan="$f" "$d.sexp" || return 1; done; }
ok 'and those of figure 8' large
pictures() { for n in 7 8 9 10 11; do grep -q '</svg>' "$out/figure$n.svg" && [ "$(head -c 4 "$out/figure$n.png" | tail -c 3)" = PNG ] || return 1; done; }
ok 'pictures in both forms' pictures
rows() { sed 1d "$out"/place/*/profile.csv | cut -d, -f1,4-6 | sort; }
ok 'no kernel is timed twice' eval '! rows | uniq -d | grep .'
cp "$results" before.csv
rm "$out"/place/*/sync-2-1.run*.csv "$results" "$out"/figure7.*
ok 'what is missing is made again' figure figure7
others() { grep -v ',sync,2:1,' "$1" | sort; }
ok 'and nothing else is measured again' cmp <(others before.csv) <(others "$results")
# other formulations and sizes in the same folder: the table is of what is asked for, what was measured stays
before=$(cksum "$out"/place/resnet50*/*.run*.csv)
ok 'other settings' eval 'figure PLACE_FORMS=sync PLACE_RATIOS="1:1 1:2" figure7 2> said'
is 'make the table anew' 'fast 0:1
slow 1:0
sync 1:1
sync 1:2' eval 'sed 1d "$out/figure7.csv" | cut -d, -f3,4 | tr , " " | sort'
ok 'say so' grep -q "place_forms=.*async.*, is " said
is 'and measure only what is new' "$before" eval 'cksum "$out"/place/resnet50*/*.run*.csv | grep -v "/sync-1-2[.]"'
table=$(stat -c %Y.%i "$out/figure7.csv")
ok 'the same again' figure PLACE_FORMS=sync PLACE_RATIOS='1:1 1:2' figure7
is 'does nothing' "$table" stat -c %Y.%i "$out/figure7.csv"
is 'the tier leaves nothing' '' eval 'ls -A "$out/place/tier" | tr -d "\n"; echo'
fails 'too little disk is said before anything is written, with the number' 2 'bytes of disk are needed' \
    figure figure7 OUT="$out-2" PLACE_TIER="file:/proc"
# the limit of the whole process: all that it takes with everything fast, but an eighth; a quarter, less than parameters
d=$out/process
mkdir -p "$d"
cp "$out"/place/resnet50*/{graph.sexp,profile.csv} "$d"
place-profile --quiet --runs=3 --tier="file:$out/place/tier" --offload -o "$d/profile.csv" "$d/graph.sexp"
"$root/pipelines/place-large" "$d" "file:$out/place/tier" '1:7 3:1 99:1' '1 2' --steps=1 --again=0 > large.csv 2> said
within() { csv-where -c ratio --is="$1" large.csv | csv-calc --print='concat(limit_bytes == round(whole * part, 0), resident_ratio > 0.5, resident_ratio <= 1, losses_equal, rounds)' \
    --let=text="$(csv-calc --print=resident_bytes "$d/whole.csv")" --set="whole=number(text)" --set="part=$2"; }
is 'everything counted: no more than the limit, the same losses' '111yes2' within 1:7 7/8
is 'and below what parameters take' '111yes2' within 3:1 1/4
ok 'so small is no program' grep -q 'no plan at 99:1' said
rm -rf "$out" "$out-2"

# how many runs are there, and how long the rest takes: other settings' runs in the same folder do not count
mkdir -p stub p/n p/other
printf '#!/bin/bash\necho step,warm,seconds; echo 0,0,0.5\n' > stub/place-run
chmod +x stub/place-run
printf '1000\n%.0s' {1..46} > p/durations
touch p/other/sync-4-1.run1.csv p/n/static-4-1.run1.csv p/n/sync-1-1.run7.csv
step() { PATH=$PWD/stub:$PATH "$root/pipelines/place-step" p/n sync-4-1 1 4:1 x "$asked" 2>&1; }
asked=$(echo p/{n,m}/{static,sync}-4-1.run{1,2}.csv)
step > said
is 'progress: two of the eight that are asked for' '[2/8] n sync 4:1, round 1: 0.500 s a step' cut -d';' -f1 said
# the others took a second each, this one took none or a few
ok 'and the rest takes what runs took, not less than none' grep -qE 'about 0:(0[5-9]|[1-5][0-9]) of runs left' said
done_testing
