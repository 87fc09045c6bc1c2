#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'y,x\n1,0\n3,1\n5,2\n7,3\n' > line.csv
ok 'a line is fitted' fit-ridge -y y --lambda=1e-9 line.csv -o m.sexp
is 'and predicted' $'y,x,predicted\n1,0,1\n3,1,3\n5,2,5\n7,3,7' bash -c 'fit-predict -m m.sexp line.csv | awk -F, "NR > 1 { \$3 = sprintf(\"%.6g\", \$3) } { print \$1 \",\" \$2 \",\" \$3 }"'
# closed form without intercept and scaling: w = x.y / (x.x + lambda) = 34 / (14 + 1)
fit-ridge -y y --raw --lambda=1 line.csv 2>/dev/null | grep -o '(y [^)]*)' | tr -d ')' > w
is 'the raw weight has its closed form' 2.26666666667 awk '{ printf "%.12g\n", $3 }' w
printf 'run,y\na,1\nb,2\nc,0.5\n' > targets.csv
printf 'run,node,f\nb,n2,1\nb,n1,0.5\na,n1,1\na,n3,0.25\n' > entries.csv
for m in primal dual iterative; do
    fit-ridge -y y --entries=entries.csv --row=run --column=node --value=f --lambda=0.1 --method=$m targets.csv 2> note | grep -o '(y [^)]*)' |
        tr -d '()' | awk '{ for (i = 2; i <= NF; i++) printf "%.10f ", $i; print "" }' > $m
done
is 'primal, dual and iterative agree on a sparse problem' "$(cat primal)" cat dual
is 'so does conjugate gradients' "$(cat primal)" cat iterative
printf 'run,n2,n1,n3,y\na,0,1,0.25,1\nb,1,0.5,0,2\nc,0,0,0,0.5\n' > dense.csv
is 'a sparse problem equals the dense table' "$(cat primal)" bash -c "fit-ridge -y y --raw -x 'n*' --lambda=0.1 dense.csv 2>/dev/null | grep -o '(y [^)]*)' | tr -d '()' | awk '{ for (i = 2; i <= NF; i++) printf \"%.10f \", \$i; print \"\" }'"
fails 'an entry twice is refused at its line' 1 'e2.csv:3: .*node' bash -c "printf 'run,node,f\na,n1,1\na,n1,2\n' > e2.csv; fit-ridge -y y --entries=e2.csv --row=run --column=node --value=f targets.csv"
fails 'a row without a target is refused' 1 "e3.csv:2: .*'z' is not a row with a target" bash -c "printf 'run,node,f\nz,n1,1\n' > e3.csv; fit-ridge -y y --entries=e3.csv --row=run --column=node --value=f targets.csv"
fails 'text among the features is refused' 1 ":2: column 'x': 'blue'" bash -c "printf 'y,x\n1,blue\n' | fit-ridge -y y"
fails 'no target is wrong usage' 2 'see --target' fit-ridge line.csv
for bad in '1,nan 1,2' '1,3 1,inf'; do
    set -- $bad
    printf 'run,node,f\n1,a,%s\n2,a,1\n' ${2#*,} > e4.csv
    printf 'run,y\n1,%s\n2,2\n' ${1#*,} > t4.csv
    fails "targets and entries are finite: $bad" 1 ":2: .* is not a finite number" fit-ridge -y y --entries=e4.csv --row=run --column=node --value=f t4.csv
done
printf 'x[0],x0,y\n1,9,1\n2,4,2\n5,1,3\n' > odd.csv
is 'a name as it stands is that column' 'x[0] x0' eval "for o in -x --ignore; do fit-ridge -y y \$o 'x[0]' --quiet odd.csv | sed -n 's/.*features \(.*\))/\1/p'; done | xargs"
fails '--method without entries' 2 'for --entries' fit-ridge -y y --method=dual line.csv
fails 'entries and names of columns' 2 'are all columns' fit-ridge -y y --entries=e2.csv -x f line.csv
done_testing
