#!/bin/bash
. "$(dirname "$0")/tap.sh"
# one flag: the optimum without penalty is the log-odds of each half: 1/4 and 3/4
printf 'c,x\nno,0\nno,0\nno,0\nyes,0\nyes,1\nyes,1\nyes,1\nno,1\n' > t.csv
ok 'it fits' fit-logistic -y c --lambda=0 t.csv -o m.sexp
is 'the probabilities are the shares' '0 0.7500 0.2500|1 0.2500 0.7500|' bash -c "fit-predict --probabilities -m m.sexp t.csv | awk -F, 'NR == 2 || NR == 6 { printf \"%s %.4f %.4f|\", \$2, \$4, \$5 } END { print \"\" }'"
is 'the model says what it is' '(model logistic (target c) (classes no yes) (features x)' bash -c "tr '\n' ' ' < m.sexp | tr -s ' ' | cut -c1-56"
ok 'the gradient vanishes' bash -c "fit-logistic -y c --lambda=0.01 t.csv 2>&1 >/dev/null | sed 's/.*gradient \([^ ]*\).*/\1/' | awk '{ exit !(\$1 <= 1e-7) }'"
is 'classes do not depend on the order of rows' "$(fit-logistic -y c t.csv 2>/dev/null | head -3)" bash -c "(head -1 t.csv; tail -n +2 t.csv | tac) | fit-logistic -y c 2>/dev/null | head -3"
done_testing
