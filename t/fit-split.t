#!/bin/bash
. "$(dirname "$0")/tap.sh"
awk 'BEGIN { print "g,v"; for (i = 0; i < 1000; i++) print "g" i % 50 "," i }' > t.csv
fit-split -g g --test=0.3 t.csv > s.csv
is 'every row is kept' 1001 bash -c 'wc -l < s.csv'
is 'no group stands on both sides' 0 bash -c "csv-cut -c g,part s.csv | sort -u | cut -d, -f1 | uniq -d | wc -l"
is 'the draw depends on the group alone, not on the order' "$(tail -n +2 s.csv | sort | cksum)" bash -c "(head -1 t.csv; tail -n +2 t.csv | tac) | fit-split -g g --test=0.3 | tail -n +2 | sort | cksum"
is 'exact takes exactly 15 of 50 groups' '15' bash -c "fit-split -g g --test=0.3 --exact t.csv | grep test | cut -d, -f1 | sort -u | wc -l"
is 'exact keeps the rows' "$(cksum < t.csv)" bash -c "fit-split -g g --exact t.csv | csv-cut -c g,v | cksum"
ok 'another seed draws otherwise' bash -c '! fit-split -g g --seed=2 --test=0.3 t.csv | cmp -s - s.csv'
is 'rows are drawn without groups' yes bash -c "fit-split --test=0.5 t.csv | grep -c test | awk '{ print (\$1 > 400 && \$1 < 600) ? \"yes\" : \$1 }'"
is 'folds keep groups together' 50 bash -c "fit-split -g g --folds=5 t.csv | csv-cut -c g,fold | sort -u | grep -c ^g[0-9]"
is 'are from 1 to N' '1 2 3 4 5' bash -c "fit-split --folds=5 t.csv | csv-cut -c fold | sed 1d | sort -nu | paste -sd' '"
is 'and of equal size when that is wanted' '142 143' bash -c "fit-split --folds=7 --exact t.csv | csv-cut -c fold | sed 1d | sort | uniq -c |
    awk '{ print \$1 }' | sort -u | paste -sd' '"
is 'also of groups' '10' bash -c "fit-split -g g --folds=5 --exact t.csv | csv-cut -c g,fold | sort -u | cut -d, -f2 | grep -v fold | sort | uniq -c |
    awk '{ print \$1 }' | sort -u"
is 'a fold does not depend on the order' "$(fit-split -g g --folds=5 t.csv | sed 1d | sort | cksum)" \
    bash -c "(head -1 t.csv; tail -n +2 t.csv | tac) | fit-split -g g --folds=5 | sed 1d | sort | cksum"
# 1.0 / 49 * 49 is less than 1: a fold must not lose its unit to such
is 'as many folds as units have one each, whatever their number' '1 1 1 1' bash -c '
    for n in 49 98 103 107; do seq 0 $n | fit-split --exact --folds=$n | sed 1d | cut -d, -f2 | sort | uniq -c |
        awk "{ print \$1 }" | sort -u | paste -sd+; done | paste -sd" "'
fails 'a column that is there already' 1 "two columns would be called 'part'" bash -c 'fit-split t.csv | fit-split'
done_testing
