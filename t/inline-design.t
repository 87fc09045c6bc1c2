#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > s.csv <<'X'
program,callee,chain,level,heat,legal,inlined
p,f,main:1:2,0,10,yes,yes
p,g,main:2:2,0,40,yes,no
p,g,f:3:4,0,30,yes,
p,g,f:3:4 @ main:1:2,1,30,yes,yes
p,h,main:5:1,0,20,yes,no
p,v,main:6:1,0,90,no,no
p,f,f:7:1,0,80,yes,no
p,k,main:8:1,0,0,yes,yes
p,only,gone:1:1 @ main:9:1,1,70,yes,yes
X
design() { inline-design --store=. --list=l.csv "$@" s.csv; }
ok 'eight trials' bash -c 'inline-design --kind=factorial --trials=8 --store=. --list=l.csv s.csv > d.csv'
is 'a row for each trial and call of the source; illegal, recursive and unnamed ones are none' 40 bash -c 'sed 1d d.csv | wc -l'
is 'the most executed first' 'g@main:2:2 g@f:3:4 h@main:5:1 f@main:1:2 k@main:8:1' \
    bash -c "csv-where -c trial --is=0 d.csv | csv-cut -c site | sed 1d | paste -sd ' '"
# what a factorial is for: each call is inlined in half of the trials, and so is each pair in a quarter of them
is 'balanced' '4' bash -c 'csv-group -g site -c inlined --stat=sum d.csv | csv-cut -c sum_inlined | sed 1d | sort -u'
is 'orthogonal: of each pair both in a quarter of the trials' '2 10' bash -c "
    csv-cut -c trial,site,inlined d.csv > a.csv; csv-join -k trial a.csv a.csv |
    csv-calc --where='site < site_right' --set='both=inlined*inlined_right' | csv-group -g site,site_right -c both --stat=sum |
    csv-group -g sum_both | csv-cut -c sum_both,n_rows | sed '1d; s/,/ /'"
is 'four trials tell three effects apart: the three hottest calls' '3' \
    bash -c 'inline-design --kind=factorial -n 4 --store=. --list=l.csv s.csv | csv-where -c trial --is=0 | sed 1d | wc -l'
fails 'not a power of two' 2 'has 2, 4, 8' design --kind=factorial -n 6
is 'a list for inline-run, a set for each' 'yes' bash -c '
    inline-design --kind=random -n 5 --store=. --list=l.csv s.csv > d.csv
    for f in $(csv-cut -c file l.csv | sed 1d); do [ -s "$f" ] || exit 1; done; echo yes'
ok 'the table names the sets as their files' bash -c '
    diff <(csv-cut -c file l.csv | sed "1d; s/.*new.//; s/.sexp//") <(csv-dedupe -k trial d.csv | csv-cut -c decisions | sed 1d)'
ok 'what a set says is what the table says' bash -c '
    for t in 0 1 2 3 4; do
        f=$(sed -n "$((t + 2))s/,.*//p" l.csv)
        diff <(grep -c "inline true" "$f") <(csv-where -c trial --is=$t d.csv | csv-group -c inlined --stat=sum | csv-cut -c sum_inlined | sed 1d) || exit 1
    done'
ok 'the first trials are those of a longer design' bash -c '
    diff <(inline-design --kind=random -n 3 --store=. --list=l.csv s.csv) <(inline-design --kind=random -n 9 --store=. --list=l.csv s.csv | csv-where -c trial --is=0 --is=1 --is=2)'
ok 'another seed, another design' bash -c '! cmp -s <(inline-design -s 1 --kind=random --store=. --list=l.csv s.csv) <(inline-design -s 2 --kind=random --store=. --list=l.csv s.csv)'
is 'groups: the calls of one function go together' 0 bash -c '
    inline-design --kind=groups -n 20 --store=. --list=l.csv s.csv | csv-where -c callee --is=g |
    csv-group -g trial -c inlined --stat=sum | csv-where -c sum_inlined --is=1 | sed 1d | wc -l'
is 'flip with probability 0 is the default, copies heard' '1 1 0 0 1' bash -c "
    inline-design --kind=flip --share=0 -n 1 --store=. --list=l.csv s.csv | csv-sort -k site | csv-cut -c inlined | sed 1d | paste -sd ' '"
is 'and 1 its opposite' '0 0 1 1 0' bash -c "
    inline-design --kind=flip --share=1 -n 1 --store=. --list=l.csv s.csv | csv-sort -k site | csv-cut -c inlined | sed 1d | paste -sd ' '"
is 'others than the factors stay as they are' '1 true' bash -c '
    inline-design --kind=random --most=1 -n 1 --store=. --list=l.csv s.csv | sed 1d | wc -l | tr "\n" " "
    grep -A0 "main:1:2" $(sed -n "2s/,.*//p" l.csv) | grep -o "true"'
printf 'site,verdict\ng@main:2:2,yes\nf@main:1:2,no\nk@main:8:1,\n' > v.csv
is 'a verdict for some, the rest by default' 'f@main:1:2,0 g@f:3:4,1 g@main:2:2,1 h@main:5:1,0 k@main:8:1,1' bash -c "
    inline-design --verdicts=v.csv --store=. --list=l.csv s.csv | csv-sort -k site | csv-cut -c site,inlined | sed 1d | paste -sd ' '"
printf 'site,verdict\nx@main:2:2,yes\n' > w.csv
fails 'a call that is not there' 1 'w.csv:2.*x@main:2:2' design --verdicts=w.csv
printf 'site,verdict\ng@main:2:2,maybe\n' > w.csv
fails 'neither yes nor no' 1 'maybe' design --verdicts=w.csv
# a model that is right when effects add: ten calls, costs known, sixteen trials, and the best set comes out
python3 - > big.csv <<'X'
print("program,callee,chain,level,heat,legal,inlined")
for i in range(10): print(f"p,f{i},main:{i + 1}:1,0,{100 - i},yes,no")
X
is 'from sixteen answers the worth of ten calls' 'no yes no yes no yes no yes no yes' bash -c "
    inline-design --kind=factorial -n 16 --store=. --list=l.csv big.csv > d.csv
    csv-calc --set='worth=number(part(callee, \"f\", -1))' --set='cost=(worth % 2 == 0 ? 1 : -1)*inlined*(1 + worth)' d.csv |
        csv-group -g trial,decisions -c cost --stat=sum | csv-calc --set='instructions=100000 + sum_cost*100' > c.csv
    csv-join -k trial,decisions d.csv c.csv > a.csv
    '$root/pipelines/design-fit' a.csv 1 x
    csv-sort -k site x.rewards.ridge.csv | csv-cut -c all | sed 1d | paste -sd ' '"
done_testing
