#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
inline-sites w > sites.csv
header=program,decisions,parent,chain,step,level,state,reason,instructions,text_bytes,asked,obeyed,inlined,build_seconds,output_hash,kind
mkdir s
inline-build --out=x --complete=s/default.sexp --sites w > /dev/null
printf '%s\ndemo,default,,,,-O2,ok,,1000,500,0,0,9,0,0,real\n' $header > h.csv
search() { inline-search --store=s --work=w --sites=sites.csv "$@"; }
search -n 3 h.csv > p1.csv
is 'as many proposals as asked' 4 wc -l < p1.csv
search -n 3 h.csv > p2.csv
ok 'the same history gives the same proposals' cmp p1.csv p2.csv
search -n 3 --seed=2 h.csv > p3.csv
ok 'another seed gives others' bash -c '! cmp -s p1.csv p3.csv'
# a step with all its rows is done: the lowest energy is where the next begins
cp h.csv h2.csv; k=0
for f in $(tail -n +2 p1.csv | cut -d, -f1); do
    d=$(basename "$f" .sexp); cp "$f" s/; k=$((k + 1))
    echo "demo,$d,default,anneal,0,-O2,ok,,$((900 + k)),500,1,1,9,0,0,real" >> h2.csv
done
first=$(sed -n 2p p1.csv | cut -d, -f1); first=$(basename "$first" .sexp)
search -n 3 h2.csv > p4.csv
is 'the next step starts from the best of the last' "$first" bash -c 'cut -d, -f2 p4.csv | sed -n 2p'
is 'and is step 1' 1 bash -c 'cut -d, -f4 p4.csv | sed -n 2p'
head -n 4 h2.csv > h3.csv                         # one row of the step is missing, as after a kill
search -n 3 h3.csv > p5.csv
ok 'an unfinished step is proposed again, the same' cmp p1.csv p5.csv
{ head -n 1 h2.csv; tail -n +2 h2.csv | sort -r; } > h4.csv
search -n 3 h4.csv > p6.csv
ok 'the order of rows does not matter' cmp p4.csv p6.csv
{ cat h.csv; sed -n 3,5p h2.csv; } > log1.csv
{ head -n 1 h.csv; sed -n 4,5p h2.csv; } > log2.csv
search -n 3 log1.csv log2.csv > p7.csv
search -n 3 log2.csv log1.csv > p8.csv
ok 'two logs merge in any order' bash -c 'cmp p7.csv p8.csv && cmp p7.csv p4.csv'
# exhaustive: 2^n different sets, then the end
hot=$(sort -t, -k9 -n -r sites.csv | awk -F, '$11 == "yes" { print $9 }' | sed -n 3p)
search --algo=exhaustive --hot="$hot" -n 1000 h.csv > all.csv
rows=$(($(wc -l < all.csv) - 1))
ok 'a power of two of subsets, none twice' test $rows = 8 -o $rows = 16 -o $rows = 32
is 'none twice' "$rows" bash -c 'tail -n +2 all.csv | sort -u | wc -l'
search --algo=flip --width=4 -n 100 h.csv > flip.csv
is 'flip tries single calls first' 5 wc -l < flip.csv
# local: calls in different functions in one build; each is judged by its own functions, and what helped is kept
printf 'function,bytes,run1\nmain,100,500\nhash_step,50,400\nget_word,60,100\n' > s/default.parts.csv
sed 's/,0,0,9,0,0,real/,0,0,9,0,0,real,1000/; 1s/$/,run_instructions/; 1s/$//' <(head -n 1 h.csv | sed 's/,run_instructions//'; tail -n 1 h.csv) > l.csv
cp -r s cold
sed '2s/,1000$/,1000000/' l.csv > million.csv
is 'without --sites any call may be tried' 2 eval 'inline-search --store=cold --work=w --algo=local --together=4 --width=1 -n 1 million.csv | wc -l'
search --algo=local --together=4 --width=1 -n 1 l.csv > local.csv
is 'one build to test' 2 wc -l < local.csv
t=$(sed -n 2p local.csv | cut -d, -f1); t=$(basename "$t" .sexp)
moves=s/$t.moves.csv
ok 'of more than one call' test "$(tail -n +2 "$moves" | wc -l)" -gt 1
# what holds the code of a call: the function it is in, what that is inlined into, and so on
near() { awk -F, -v hosts="$(sed -n 's/.*(path \([a-z_]*\):.*(callee \([a-z_]*\)) (inline true).*/\2 \1/p' s/default.sexp | tr '\n' ' ')" '
    function touch(f, i) { if (seen[NR, f]++) return; print f; for (i = 1; i < n; i += 2) if (h[i] == f) touch(h[i + 1]) }
    BEGIN { n = split(hosts, h, " ") } NR > 1 { k = split($3, e, " @ "); split(e[k], f, ":"); touch(f[1]); if (!seen[NR, $2]++) print $2 }' "$1"; }
is 'no two of them touch a function' 0 bash -c "$(declare -f near); near $moves | sort | uniq -d | wc -l"
first=$(sed -n 2p "$moves" | cut -d, -f2)
cp "s/new/$t.sexp" s/
sed "/^$first,/s/,[0-9]*\$/,10/" s/default.parts.csv > "s/$t.parts.csv"
grep -q "^$first," s/default.parts.csv || sed '/^main,/s/,[0-9]*$/,10/' s/default.parts.csv > "s/$t.parts.csv"
echo "demo,$t,default,local,0,-O2,ok,,1500,600,0,0,9,0,0,real,1500" >> l.csv
search --algo=local --together=4 --width=1 -n 1 l.csv > local2.csv
is 'then what helped, as step 1' 'default,local,1' bash -c 'sed -n 2p local2.csv | cut -d, -f2-4'
# more runs than parts are told of: what the first of them say
cp -r s s17
for f in s17/*.parts.csv; do
    sed -i "1s/,run1/$(printf ',run%d' {1..16})/; 2,\$s/,\([0-9]*\)\$/$(printf ',\\1%.0s' {1..16})/" "$f"
done
sed "2,\$s/,\([0-9]*\)\$/,$(printf '\\1 %.0s' {1..17})/" l.csv > l17.csv
is 'of 17 runs too' 'default,local,1' bash -c 'inline-search --store=s17 --work=w --sites=sites.csv --algo=local \
    --together=4 --width=1 -n 1 l17.csv | sed -n 2p | cut -d, -f2-4'
search --algo=local --text-weight=1 -n 1 h.csv > size.csv
t=$(sed -n 2p size.csv | cut -d, -f1); t=$(basename "$t" .sexp)
is 'for size the most that is there twice and could be there once is tried first' 'letter no letter no' bash -c "awk -F, '\$1 == 0 { print \$2, \$4 }' s/$t.moves.csv | paste -sd' '"
search --algo=mcts -n 2 h.csv > mcts.csv
ok 'tree search proposes' test "$(wc -l < mcts.csv)" -ge 2
search --algo=start -n 9 h.csv > start.csv
ok 'hot subsets of the heuristic' test "$(wc -l < start.csv)" -ge 2
printf 'callee,chain,heat\nf,main,3\nf,main,nan\n' > bad.csv
# by hand: what is slower or too long or wrong, two sets of one cost, and a stock build, which no decisions make
{
    cat h.csv
    for row in d,x,ok,990,500 b,x,ok,980,500 c,x,ok,980,500 a,x,ok,970,900 e,x,output,900,500 f,stock,ok,800,500; do
        IFS=, read -r set chain state instructions text <<< "$row"
        echo "demo,$set,default,$chain,0,-O2,$state,,$instructions,$text,1,1,9,0,0,real"
    done
} > hand.csv
fails 'a heat that is no count' 1 "bad.csv:3: column 'heat': 'nan' is not a count" inline-search --store=s --work=w \
    --sites=bad.csv h.csv
fails 'no default row' 1 'no row `default`' search <(echo $header)
fails 'an unknown algorithm' 2 'not one of' search --algo=magic h.csv
done_testing
