#!/bin/bash
# mistakes that people make, with their own words: each message names the way on.  A line: exit status, what is said
# (a regular expression), the command; # is not said
. "$(dirname "$0")/tap.sh"
printf 'id,name,seconds\n1,a,3\n2,b,x\n' > a.csv
printf 'id,z\n7,1\n1,2\n' > b.csv
printf 'label,round,cpu_seconds\nold,1,2\nold,2,2\nnew,1,3\nnew,2,3\n' > r.csv
printf 'id;name\n1;a\n' > semi.csv
printf '1,2\n3,4\n' > nohead.csv
printf 'proc,tid,kind,cat,start_ns,end_ns,name,link,flag\n1,1,cat,Python,0,10,f,,\n' > e.csv
: > empty.csv
echo '{"a":1}' > j.json
echo text > text
mkdir log
place-net mlp --batch=8 > g.sexp
place-cost --model=optane g.sexp > p.csv
n=0
while IFS='|' read -r status said command; do
    n=$((n + 1))
    if [ "$status" = 0 ]; then ok "$command" bash -c "{ $command; } > out 2> err < /dev/null; grep -Eq -- \"\$0\" err" "$said"
    else fails "$command" "$status" "$said" bash -c "{ $command; } < /dev/null > out"; fi
done <<'TABLE'
1|no column 'nam'; did you mean 'name'\? there are id, name, seconds|csv-cut -c nam a.csv
1|did you mean 'id'|csv-cut -c ids a.csv
1|did you mean 'seconds'|csv-sort -k secodns a.csv
1|no column 'benchmark'; there are id|csv-cut -c benchmark a.csv
2|no option --widht; did you mean --width\?|csv-show --widht=3 a.csv
2|no option --col; did you mean --column\?|csv-cut --col=a a.csv
2|no option -c; there are -k \(--key\), -r \(--reverse\)|csv-sort -c id a.csv
2|no option -n; there are -k \(--key\)|csv-sort -n -k id a.csv
2|no option --where; there are --column, --min, --max|csv-where --where='seconds>3' a.csv
2|no option --on; there are --key|csv-join --on=id a.csv b.csv
0|1 of 2 rows of a.csv have no partner in b.csv|csv-join -k id a.csv b.csv
2|two tables expected, LEFT and RIGHT|csv-join -k id a.csv
2|two tables expected|csv-diff a.csv
1|no column 'second'; did you mean 'seconds'|csv-group -g name -c second a.csv
2|'avg' is none of n mean sum|csv-group -g id --stat=avg -c seconds a.csv
2|no option --mean; there are --group, --column, --stat|csv-group -g id --mean=seconds a.csv
2|is not of the form NAME=|csv-calc --set=x:seconds*2 a.csv
2|no column 'secs'; there are id, name, seconds|csv-calc --set='x=secs*2' a.csv
2|no function 'sum'; it is total\(\), or run_sum\(\)|csv-calc --set='x=sum(seconds)' a.csv
2|no function 'flor'; did you mean floor\(\)|csv-calc --set='x=flor(seconds)' a.csv
2|'=' alone compares nothing, '==' does|csv-calc --where='name = "a"' a.csv
2|no column 'a'; .*a text stands in quotes|csv-calc --where='name == a' a.csv
1|a.csv:3: column 'seconds': 'x' is not a number|csv-where -c seconds --min=3 a.csv
2|no condition given, see --min, --max, --is|csv-where -c seconds '>3' a.csv
2|'seconds:numeric' ends in neither :n, :r nor :nr|csv-sort -k seconds:numeric a.csv
2|no column given, see -x|csv-plot a.csv
2|'scatter' is not one of line.point.bar|csv-plot -x id -y seconds --kind=scatter a.csv
2|--names and --values are needed|csv-pivot -k id a.csv
0|one column; fields look separated by ';', see --delimiter|csv-show semi.csv
1|fields look separated by ';', see --delimiter|csv-cut -c id semi.csv
1|empty input, expected a header row|csv-cut -c id empty.csv
1|is the line with the names of the columns missing\?|csv-cut -c id nohead.csv
1|nofile.csv: No such file|csv-cut -c id nofile.csv
1|this is JSON, a table is wanted \(csv-from-json makes one\)|csv-show j.json
1|a.csv:1:1: not a JSON value|csv-from-json a.csv
1|this is an s-expression, a table is wanted \(place-cost or place-profile|csv-cut -c id g.sexp
1|this looks like a table, an s-expression is wanted \(sexp-from-csv makes one\)|sexp-to-csv a.csv
2|an s-expression is wanted|place-check a.csv
1|this is an s-expression, a table is wanted \(place-cost|place-plan --ratio=4:1 -f sync -p g.sexp g.sexp
1|an s-expression is wanted|place-plan --ratio=4:1 -f sync -p p.csv p.csv
2|how much fast memory\? see --limit and --ratio|place-plan -f sync -p p.csv g.sexp
2|no profile given, see --profile|place-plan -f sync --limit=4G g.sexp
2|'sink' is not one of static.sync.async|place-plan -f sink --limit=4G -p p.csv g.sexp
2|unknown network 'resnet', one of vgg16|place-net resnet --batch=8
2|no network given, one of vgg16|place-net
2|no search given, see --algo|loop-search g.sexp
1|a table is wanted|loop-emit g.sexp
2|no 'loop-encode'; there are .*loop-emit, |millrace loop-encode g.sexp
2|--kind=mm needs --m|loop-gen --kind=mm
2|'matmul' is not one of mm|loop-gen --kind=matmul --m=3 --n=3 --k=3
1|no column 'kind'; .*events are wanted: prof-log, prof-import|prof-top a.csv
1|no logs of the recorder here \(prof-record -o log PROGRAM makes them\)|prof-top log
1|nothing matches it; names like it: Python|prof-whatif --speed=nothing:2 e.csv
0|^2,b,x|csv-sample --rate=1 a.csv >&2
2|--rate: '1.5' is not in 0 .. 1|csv-sample --rate=1.5 a.csv
2|no program given|prof-record
1|nosuchprog: No such file|prof-record nosuchprog
0|no column 'wall_seconds': cpu_seconds is compared|bench-compare --base=old r.csv
3|no label 'nwe' in the input; did you mean 'new'\? there are old, new|bench-compare --base=nwe r.csv
3|no label 'base' in the input; there are old, new, see --base|bench-compare --base=base r.csv
3|no column 'label'; .*runs are wanted: bench-run, bench-import|bench-compare a.csv
1|output differs from that of the first label \(--output-rule=own or any|bench-run --rounds=3 --label=g 'gzip -kc text' --label=c 'cat text'
1|nosuchprog: No such file|bench-run --rounds=3 --label=a ls --label=b nosuchprog
2|which need a shell \(see --shell\)|bench-run --rounds=8 --label=a 'ls | wc' --label=b ls
1|'a' is not a number \(fit-encode makes numbers of texts, --ignore leaves a column out\)|fit-ridge -y seconds a.csv
2|no model given, see --model|fit-predict a.csv
1|an s-expression is wanted|fit-predict -m a.csv a.csv
2|no work directory, see --out|inline-module .
2|no 'comare'; did you mean 'compare'|millrace comare a b
2|two commands are compared, each one argument: 1 given|millrace compare 'sort a'
2|mm takes 3 sizes: m n k|millrace kernel mm 96 250
2|a folder of C sources is wanted|millrace inline
2|nowhere: no such folder|millrace inline nowhere
2|--limit=8G, --limit=25%|millrace memory train.py
2|a program to run is wanted|millrace profile
2|no topic 'csv-shw'; did you mean 'csv-show'|millrace help csv-shw
TABLE
ok 'seventy of them' [ $n -ge 70 ]
is 'columns one by one' $'name,id\na,1\nb,2' csv-cut -c name -c id a.csv
is 'dropped one by one' $'name\na\nb' csv-cut --drop=id --drop=seconds a.csv
is 'in every filter' 'name id' bash -c 'csv-show -c name -c id a.csv | head -1 | tr -s " "'
is 'keys too' $'id,name,n_rows\n1,a,1\n2,b,1' csv-group -g id -g name a.csv
done_testing
