#!/bin/bash
# how a number was obtained reaches the title of the figure: simulated in, never real out
. "$(dirname "$0")/tap.sh"
needs gnuplot
quiet() { local found; found=$("$@"); [ -z "$found" ] || { echo "$found"; return 1; }; }
title() { printf '%s' "$1" > t.csv; gnuplot -e "set print '-'" -c title.gp t.csv 2> /dev/null; }
cat > title.gp <<E
call "$root/plots/kind.gp" ARG1
print kind
E
is 'real' 'real' title $'a,kind\n1,real\n2,real\n'
is 'simulated' 'simulated' title $'kind,a\nsimulated,1\n'
is 'a mixture of rows' 'real and simulated' title $'a,kind\n1,real\n2,simulated\n3,real\n'
is 'a mixture in a row' 'real and emulated' title $'a,kind\n1,real+emulated\n'
is 'a row that does not say' 'real and of unknown kind' title $'a,kind\n1,real\n2,""\n'
is 'a table that does not say' 'of unknown kind' title $'a,b\n1,2\n'
is 'a table without rows' 'of unknown kind' title $'a,kind\n'
given() { printf '%s' "$2" > t.csv; gnuplot -e "kind='$1'; set print '-'" -c title.gp t.csv 2> /dev/null; }
is 'what a table says is above what is given' 'simulated' given real $'a,kind\n1,simulated\n'
is 'what is given is above nothing' 'emulated' given emulated $'a,b\n1,2\n'
is 'an empty kind is unknown, whatever is given' 'of unknown kind' given real $'a,kind\n1,""\n'
kinds() { printf '%s' "$2" > a.csv; printf '%s' "$3" > b.csv; PATH=$BIN:$PATH "$root/pipelines/kinds" a.csv b.csv; }
is 'kinds of two tables' 'real+simulated' kinds x $'a,kind\n1,simulated\n' $'kind\nreal\nreal\n'
is 'none says' '' kinds x $'a\n1\n' $'b\n2\n'
is 'a word that is none is left out' 'real' kinds x $'a,kind\n1,"x\'; system(1)"\n' $'kind\nreal\n'
is 'text is not run' 'of unknown kind' title $'a,kind\n1,`touch ran`$(touch ran)\n'
ok 'nothing was' [ ! -e ran ]

# the figures of bench: the title is read back from the SVG
bench-run --rounds=8 --seed=1 --label=a 'sleep 0.001' --label=b 'sleep 0.0012' > runs.csv 2> /dev/null
for k in real emulated simulated; do
    sed "2,\$s/,real,/,$k,/" runs.csv > $k.csv
    bench-compare --quiet --metric=wall $k.csv > $k.ratio.csv 2> /dev/null
    gnuplot -c "$root/plots/bench-ratio.gp" $k.ratio.csv $k.ratio.svg label 'ratio' 2> /dev/null
    gnuplot -c "$root/plots/bench-sequence.gp" $k.csv $k.sequence.svg wall_seconds a b 2> /dev/null
    gnuplot -c "$root/plots/bench-distribution.gp" $k.csv $k.distribution.svg wall_seconds a b 2> /dev/null
    for f in ratio sequence distribution; do ok "bench-$f.gp says $k" grep -q ">$k: " $k.$f.svg; done
done

# sources: the word is written only by what measures by itself, or reads what others measured
cd "$root" || exit 99
says_real() { grep -lE '"real"|KIND_REAL' bin/*.c $(find lib -name '*.c') | grep -v '^lib/table/kind.c$' | sort; }
measures='bin/flambda-results.c lib/flambda/counters.c lib/flambda/rundir.c lib/measure/foreign_in.c
lib/measure/bench.c lib/inline/trial.c
bin/place-profile.c bin/place-run.c lib/place/fast.c lib/place/profile.c lib/place/gpu_rows.c lib/tensor/tier.c
bin/loop-machine.c bin/loop-peer.c bin/loop-run.c lib/loop/nest/rows.c bin/loop-train.c'
ok 'no other program or module says real' quiet comm -23 <(says_real) <(tr ' ' '\n' <<< "$measures" | sort)
# that each plot takes it from its table: t/pipeline-titles.t
done_testing
