#!/bin/bash
. "$(dirname "$0")/tap.sh"
# the class follows x in all groups but the last, where it is turned round: honest scores must show that
awk 'BEGIN { print "g,c,x"; for (i = 0; i < 80; i++) { g = i % 4; x = (i * 7) % 10; print "g" g "," ((x > 4) != (g == 3) ? "p" : "q") "," x } }' > t.csv
fit-cv -y c -g g t.csv > s.csv
is 'one row per model and group, one over all' '8 40' bash -c "awk -F, 'NR > 1 { n++; m[\$1] = 1 } END { for (k in m) j++; print j, n }' s.csv"
is 'a group turned round is got wrong' 'boost,g3,20,0' bash -c "grep '^boost,g3' s.csv | cut -d, -f1-4"
is 'the rest is partly right' yes bash -c "grep '^boost,g0' s.csv | awk -F, '{ print \$5 == 1 ? \"yes\" : \$0 }'"
is 'the constant equals its own baseline' 0 bash -c "awk -F, '\$1 == \"constant\" && \$5 != \$6' s.csv | wc -l"
is 'the same bytes again' "$(cksum < s.csv)" bash -c 'fit-cv -y c -g g t.csv | cksum'
awk 'BEGIN { print "g,y,x"; for (i = 0; i < 40; i++) print i % 4 "," 3 * (i % 7) + 1 "," i % 7 }' > n.csv
is 'chosen models only, and numbers: a line is found, the mean explains nothing' 'constant,mean lasso,line ridge,line ' bash -c "fit-cv -y y -g g --number --models=ridge,lasso,constant n.csv | awk -F, '\$2 == \"(all)\" { print \$1 \",\" (\$6 > 0.99 ? \"line\" : \$6 <= 0 ? \"mean\" : \$6) }' | sort | tr '\n' ' '; echo"
for g in g0 g1 g2 g3; do fit-cv -y c -g g --fold=$g t.csv > $g.csv; done
is 'folds fitted one by one and pooled are the same bytes' "$(cksum < s.csv)" bash -c 'fit-cv --pool g0.csv g1.csv g2.csv g3.csv | cksum'
for g in g0 g1 g2 g3; do fit-cv -y y -g g --number --models=ridge --fold=${g#g} n.csv > $g.csv; done
is 'numbers too' "$(fit-cv -y y -g g --number --models=ridge n.csv | cksum)" bash -c 'fit-cv --pool --number g?.csv | cksum'
is 'of one expert the surest is that one' "$(fit-cv -y c -g g --models=boost t.csv | sed 's/^boost/committee/')" bash -c "fit-cv -y c -g g --models=boost,committee --surest t.csv | grep -v ^boost"
fails 'nobody is sure of a number' 2 'sure of a number' fit-cv -y y -g g --number --surest n.csv
fails 'a group that is not there' 1 "no group 'z'" fit-cv -y c -g g --fold=z t.csv
fails 'a fold twice' 1 ':2: a second fold' fit-cv --pool --number g0.csv g0.csv
fails 'a model that is none' 1 ":2: 'tree' is no model" bash -c "printf 'model,group,n,correct,majority,own,sse,base\ntree,a,1,1,1,1,1,1\n' | fit-cv --pool"
fails 'one group cannot be left out' 1 'at least 2' bash -c "printf 'g,c,x\na,p,1\n' | fit-cv -y c -g g"
fails 'a model that nobody knows' 2 "no model is called 'rdige'" fit-cv -y c -g g --models=rdige,boost t.csv
is 'sums of squares are of numbers, not of classes' '0,0' bash -c 'fit-cv -y c -g g --models=boost --fold=g3 t.csv | csv-cut -c sse,base | sed 1d'
fails 'folds of numbers are pooled as such' 1 ':2: a fold of numbers: see --number' bash -c "printf 'model,group,n,correct,majority,own,sse,base\nridge,a,1,0,0,0,1,2\n' | fit-cv --pool"
done_testing
