#!/bin/bash
. "$(dirname "$0")/tap.sh"
header=program,decisions,parent,chain,step,level,state,reason,instructions,text_bytes,asked,obeyed,inlined,build_seconds,output_hash,kind,run_instructions
cat > h.csv <<X
$header
p,default,,,,-O2,ok,,200,500,0,0,9,0,0,real,100 100
p,none,,,,-O2,ok,,300,400,0,0,9,0,0,real,200 100
p,a1,default,local,0,-O2,output,,,,0,0,9,0,0,,
p,a2,default,anneal,1,-O2,ok,,100,500,0,0,9,0,0,real,50 50
X
is 'ratios, the best so far, the frontier' 'p,1,heuristic,default,ok,1,1,1,,no,,
p,3,local,a1,output,,,1,,no,default,0
p,4,anneal,a2,ok,0.5,1,0.5,0.1,yes,default,1' bash -c 'inline-trace --t-max=1 --t-min=0.01 --steps=2 h.csv | sed -n "2p;4,5p" | sed "s/0.5000000000[0-9]*/0.5/g; s/0.0999999999*8/0.1/"'
is 'geometric mean over the runs; small is on the frontier too' '1.41 0.8 yes' bash -c 'inline-trace h.csv | awk -F, "NR == 3 { printf \"%.2f %.1f %s\n\", \$6, \$7, \$10 }"'
is 'a history is read from a pipe' "$(inline-trace h.csv)" inline-trace <(cat h.csv)
fails 'no default' 1 'no row `default`' inline-trace <(sed /default,,/d h.csv)
# a size or a count of 0 would be better than all others: the log of a ratio
sed '5s/,500,/,0,/' h.csv > bad.csv
fails 'a size of nothing' 1 "bad.csv:5: column 'text_bytes': '0' is not a number above 0" inline-trace bad.csv
sed '5s/50 50/50 -50/' h.csv > bad.csv
fails 'a run that takes less than nothing' 1 "bad.csv:5: column 'run_instructions'" inline-trace bad.csv
{
    echo "$header"
    printf 'p,default,,,,-O2,ok,,7000,500,0,0,9,0,0,real,'; printf '100 %.0s' {1..70}; echo
    printf 'p,a,default,local,0,-O2,ok,,6700,500,0,0,9,0,0,real,'; printf '100 %.0s' {1..64}; printf '50 %.0s' {1..6}; echo
    printf 'p,lto,,stock,,-O2,ok,,6000,500,0,0,9,0,0,real,'; printf '90 %.0s' {1..70}; echo
} > many.csv
is 'all runs count, however many; a stock build has no step' $'0.9423,0\n,' bash -c \
    'inline-trace many.csv | csv-calc --set="ratio=round(instructions_ratio, 4)" | csv-cut -c ratio,step | tail -2'
sed '2h; 2s/ok,,200/missing,no clang,/; 2s/,real.*/,,/; 2{p;x;}' h.csv > came.csv
is 'a row of a compiler that has come since counts, not the one before' "$(inline-trace h.csv | cut -d, -f4-)" \
    bash -c 'inline-trace came.csv | cut -d, -f4-'
done_testing
