#!/bin/bash
. "$(dirname "$0")/tap.sh"

printf 'problem\n(mm 64 48 32)\n(mm 50 30 20)\n' > p.csv
last() { awk -F, 'NR > 1 { if ($1 != p && p != "") print l; p = $1; l = $0 } END { print l }' "$1"; }
for a in greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs random anneal heuristic; do
    loop-search --algo=$a --eval=model --seconds=0.05 --seed=3 p.csv > $a.1
    loop-search --algo=$a --eval=model --seconds=0.05 --seed=3 p.csv > $a.2
    ok "$a: the same seed, the same rows" cmp $a.1 $a.2
    awk -F, 'NR > 1' $a.1 | while IFS= read -r row; do echo "$row"; done | awk -F, -v OFS=, 'BEGIN { print "problem,action" }
        $1 != p { if (p != "") print p, list; p = $1; list = "" } { if ($4 != "") list = list (list == "" ? "" : " ") $4 } END { print p, list }' > list.csv
    is "$a: the actions lead to the last tree" "$(last $a.1 | sed 's/.*\((tree.*)\),.*,.*,simulated/\1/')" \
        bash -c "loop-act list.csv | tail -n +2 | sed 's/.*\((tree.*)\),[0-9]*,.*/\1/'"
done
printf 'problem\n(mm_tn 64 64 64)\n' > tn.csv
is 'of nests that several candidates are, each is there once' 60 bash -c \
    'loop-search --algo=heuristic --list --measure=60 tn.csv | tail -n +2 | head -n 60 | sort -u | wc -l'
better() { awk -F, -v a="$(last random.1 | head -1 | awk -F, '{ print $(NF-2) }')" -v b="$(last heuristic.1 | head -1 | awk -F, '{ print $(NF-2) }')" 'BEGIN { exit !(b >= a) }'; }
ok 'the heuristic is at least as good as a little random search' better
head -2 p.csv > one.csv
loop-search --algo=beam2dfs --as-published --eval=model --seconds=1 --steps=1 --dot=g.dot one.csv > pub.csv
is 'as published the widths go by name: swap_down, split_8 at the root' 'split_8 swap_down' \
    bash -c "grep -o 'label=\"[a-z][a-z_0-9]*\"' g.dot | grep -v '(' | tr -d '\"' | sed 's/label=//' | sort -u | paste -sd ' '"
is 'and are named so' 'beam2dfs_published' bash -c "tail -1 pub.csv | cut -d, -f2"
loop-search --algo=random --seconds=0.1 --eval=run p.csv > run.csv
ok 'measured rows are real' grep -q ',real$' run.csv
ok 'the last row of a problem is its best' awk -F, '{ g[$1] = $(NF-2) } END { for (p in g) if (p != "problem" && !(g[p] > 0)) exit 1 }' run.csv
# how many loads a prefetcher follows is measured, where rows lie far apart
printf 'problem\n(mm 8 3072 96)\n(mm 64 48 32)\n' > apart.csv
loop-search --algo=heuristic --measure=3 --seconds=20 --eval=run --cache=apart.cache apart.csv > apart.rows
is 'nests whose rows lie far apart are measured unrolled, too' '(mm 8 3072 96)' \
    bash -c 'csv-where -c tree --like="*unroll*" apart.cache | csv-cut -c problem | sed 1d | sort -u'
# cut anywhere, as by a kill, and started again
printf 'problem\n(mm 64 48 32)\n(mm 50 30 20)\n(mm 16 48 80)\n' > three.csv
search() { loop-search --algo=anneal --eval=model --seconds=0.05 --seed=3 "$@"; }
search three.csv > whole
bytes=$(wc -c < whole) wrong=
for ((i = 0; i < 12; i++)); do
    head -c $((bytes * i / 11)) whole > part
    search --out=part three.csv > out 2> err || wrong+=" $i"
    cmp -s whole part || wrong+=" $i"
done
is 'cut at any byte it goes on to the same rows' '' echo "$wrong"
fails 'a file that is not its output' 1 'p.csv:1: not the rows of a search' search --out=p.csv three.csv
fails 'a name that could not be found again' 1 "'a,b' names rows" search --name=a,b --out=named three.csv
ok 'of it nothing is begun' test ! -e named
search --dot=none/g.dot one.csv > dotless 2> said
is 'a graph that cannot be written is said before the search' 1 eval "grep -c 'none/' said; cat dotless"
is 'of no problems the graph is empty, and one' 'digraph { }' eval 'head -1 one.csv | search --dot=none.dot > rows; xargs < none.dot'
fails 'the rows of another search' 1 "part:2: not a row of random" loop-search --algo=random --out=part three.csv
printf 'problem\n(mm 8 8 8)\n(point 20 13)\n(transp 20 30)\n(nest (sizes (i 40) (j 64)) (A i) (B j) (C i j))\n' > sumless.csv
loop-search --algo=heuristic --eval=model sumless.csv > sumless
is 'problems without a sum have no reduction that could be cut' 4 bash -c 'csv-dedupe -k problem sumless | sed 1d | wc -l'
fails 'no algorithm' 2 'see --algo' loop-search p.csv
fails 'an unknown algorithm' 2 'algo' loop-search --algo=luck p.csv
done_testing
