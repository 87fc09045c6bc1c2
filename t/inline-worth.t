#!/bin/bash
. "$(dirname "$0")/tap.sh"
# a program of known costs: main calls a and b, a calls c; what main executes falls when a is inlined, more so with c
cost_main() { echo $((1000 - 100 * $1 + 40 * $2 - 30 * $1 * $3)); }
cost_a() { echo $(((1 - $1) * 300)); }
cost_b() { echo $(((1 - $2) * 50)); }
mkdir s
parts() { # DECISIONS a b c
    printf 'function,bytes,run1,run2\nmain,100,%d,1000\na,%d,%d,0\nb,9,0,%d\nc,7,5,5\n' "$(cost_main "$2" "$3" "$4")" \
        $((50 - 2 * $4)) "$(cost_a "$2" "$3" "$4")" "$(cost_b "$2" "$3" "$4")" > "s/$1.parts.csv"
}
rows() { printf '%s,%s,a@main:1:2,a,%s\n%s,%s,b@main:2:2,b,%s\n%s,%s,c@a:1:7,c,%s\n' "$1" "d$1" "$2" "$1" "d$1" "$3" \
    "$1" "d$1" "$4"; }
echo trial,decisions,site,callee,inlined > all.csv
least=99999
for t in 0 1 2 3 4 5 6 7; do
    a=$((t & 1)) b=$((t >> 1 & 1)) c=$((t >> 2))
    rows $t $a $b $c >> all.csv
    parts d$t $a $b $c
    sum=$(($(cost_main $a $b $c) + $(cost_a $a $b $c) + $(cost_b $a $b $c)))
    [ $sum -ge $least ] || { least=$sum; wanted="$a$b$c"; }
done
verdict() { csv-where -c site --is="$2" "$1" | csv-cut -c "$3" | tail -1; }
digits() { for s in a@main:1:2 b@main:2:2 c@a:1:7; do [ "$(verdict "$1" $s best)" = yes ] && printf 1 || printf 0; done; echo; }
inline-worth --store=s all.csv > w.csv
is 'all trials: every call is told apart' 1,1,1 echo "$(verdict w.csv a@main:1:2 known),$(verdict w.csv b@main:2:2 known
    ),$(verdict w.csv c@a:1:7 known)"
is 'and the best of all sets is proposed' "$wanted" digits w.csv
worth() { csv-calc --where="site == '$2'" --print="abs(worth - $3) < 2 ? 'near' : worth" "$1"; }
is 'b costs main 40 and saves its own 50' near worth w.csv b@main:2:2 10
is 'a saves main 100, 30 more with c, and its own 300' near worth w.csv a@main:1:2 430

# trials without the best: the model finds it
csv-where -c trial --is=7 --not all.csv > seven.csv
inline-worth --store=s seven.csv > w7.csv
is 'of seven trials, without the best: the best is proposed' "$wanted" digits w7.csv
csv-calc --where='trial < 2' all.csv > two.csv
inline-worth --store=s two.csv > w2.csv
is 'two trials that differ in a alone tell nothing of c' 0 verdict w2.csv c@a:1:7 known
is 'but a' 1 verdict w2.csv a@main:1:2 known
inline-worth --store=s --sample=3 all.csv > s3.csv
inline-worth --store=s --sample=3 all.csv > again.csv
ok 'a draw is the same with the same seed' cmp s3.csv again.csv
rm s/d5.parts.csv
inline-worth --store=s all.csv > less.csv
is 'a trial that was not built is left out' "$(csv-cut -c site w.csv)" csv-cut -c site less.csv
fails 'no trials at all' 1 'fewer than two trials' inline-worth --store=none all.csv
fails 'no store' 2 'store is needed' inline-worth all.csv
done_testing
