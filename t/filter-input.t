#!/bin/bash
# filter-input.t - tables as people have them: another separator, words for an empty field, .tsv.
. "$(dirname "$0")/tap.sh"
printf 'name;ms;note\na;1.5;x,y\n"b;c";NA;\n' > semicolon
is 'semicolons; commas are quoted on the way out' $'name,ms,note\na,1.5,"x,y"\nb;c,NA,' csv-cat '--delimiter=;' semicolon
is 'NA is an empty field' $'name,ms,note\na,1.5,"x,y"\nb;c,,' csv-cat '--delimiter=;' --na=NA --na=null semicolon
is 'which statistics may leave out' $'n_rows,n_ms,mean_ms\n2,1,1.5' \
    csv-group '--delimiter=;' --na=NA -c ms --stat=n,mean --missing=skip semicolon
is 'without it NA is no number' 1 bash -c "csv-group '--delimiter=;' -c ms semicolon 2>&1 | grep -c \"'NA' is not a number\""
printf 'a\tb\n1\tx y\n' > t.tsv
cp t.tsv tabs
is 'a file that is called .tsv' $'a,b\n1,x y' csv-cat t.tsv
is 'tab is a word' $'a,b\n1,x y' csv-cat --delimiter=tab tabs
is 'or an escape' $'a,b\n1,x y' bash -c "csv-cat '--delimiter=\\t' < tabs"
printf 'a,b\n1,2\n' > t.csv
is '.tsv beside .csv' $'a,b\n1,x y\n1,2' csv-cat t.tsv t.csv
is 'lines end in CR LF' $'a,b\n1,2' bash -c "printf 'a|b\r\n1|2\r\n' | csv-cat '--delimiter=|'"
fails 'two bytes are no separator' 2 "'::' is not one byte" csv-cat --delimiter=:: t.csv
fails 'nor is a quote' 2 'is not one byte' csv-cat '--delimiter="' t.csv
fails 'nor nothing' 2 'is not one byte' csv-cat --delimiter= t.csv
fails 'what the separator seems to be' 1 "no column 'ms'; fields look separated by ';', see --delimiter" csv-sort -k ms semicolon
fails 'also tabs' 1 "separated by 'tab'" csv-cut -c a tabs
fails 'or where a row is longer than the header' 1 ":2: more fields than the header has; fields look separated by ';'" csv-cat semicolon
# every plain filter gives the same answer to the same table
printf 'a,b\n1,2\n3,4\n' > good
cp good right
sed 's/,/;/g' good > good.semicolon
cp good.semicolon right.semicolon
while read -r p args; do
    is "$p: the same answer" "$(eval "$p $args" < good)" eval "$p '--delimiter=;' ${args//right/right.semicolon} < good.semicolon"
done <<'END'
csv-cut -c b,a
csv-where -c a --min=2
csv-sort -k a:nr
csv-group -g a -c b
csv-sample --first=1
csv-pivot --long -k a --names=n --values=v
csv-dedupe -k a
csv-show
csv-join -k a - right
csv-calc --set=c=a+b
csv-check
sexp-from-csv --head=r
fit-ridge --quiet -y b --lambda=0.1
fit-split --test=0.5
END
# against a reader that is not ours: Python's csv module
if command -v python3 > /dev/null; then
    python3 - <<'END'
import csv, random
r = random.Random(1)
rows = [["".join(r.choice('ab;,\t" |') for _ in range(r.randrange(6))) for _ in range(3)] for _ in range(300)]
for name, d in ("p;", ";"), ("p|", "|"), ("ptab", "\t"):
    with open(name, "w", newline="") as f:
        csv.writer(f, delimiter=d, lineterminator="\n").writerows([["x", "y", "z"]] + rows)
with open("want", "w", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows([["x", "y", "z"]] + rows)
END
    csv-cat want > w
    for d in ';' '|' tab; do is "what Python's csv writes with '$d'" "$(<w)" csv-cat "--delimiter=$d" "p$d"; done
else
    skip "what Python's csv writes" 'python3 is not here'
fi
done_testing
