#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'c,a,b\nsame,0,0\nother,0,1\nother,1,0\nsame,1,1\nsame,0,0\nother,0,1\nother,1,0\nsame,1,1\n' > xor.csv
# a single stump on y = [x > 1]: leaves are the means (lambda 0), the threshold lies half way
printf 'y,x\n0,0\n0,1\n6,2\n6,3\n' > step.csv
fit-boost --number -y y --rounds=1 --depth=1 --rate=1 --lambda=0 step.csv -o s.sexp
is 'a stump has the means of its halves' '0 0 6 6 ' bash -c "fit-predict -m s.sexp step.csv | awk -F, 'NR > 1 { printf \"%g \", \$3 } END { print \"\" }'"
is 'the base is the mean' '(base 3)' grep -o '(base [^)]*)' s.sexp
ok 'it fits classes' fit-boost -y c --depth=2 --least=0 --rounds=30 --rate=0.3 xor.csv -o m.sexp
ok 'the same bytes again' bash -c 'fit-boost -y c --depth=2 --least=0 --rounds=30 --rate=0.3 xor.csv | cmp - m.sexp'
awk 'BEGIN { print "c,a,b"; for (i = 0; i < 200; i++) { a = (i * 37) % 101; b = (i * 53) % 97; print ((a > 50) != (b > 40) ? "p" : "q") "," a "," b } }' > board.csv
fit-boost -y c --rounds=60 board.csv -o b.sexp
is 'a board of four squares is learned' 200 bash -c "fit-predict -m b.sexp board.csv | awk -F, 'NR > 1 && \$1 == \$4 { n++ } END { print n }'"
# what is learned does not depend on the unit: nanoseconds in seconds are numbers like others
awk 'BEGIN { print "y,a"; for (i = 0; i < 100; i++) print (i * 37 % 100 > 50) "e-9," i * 37 % 100 }' > nano.csv
is 'a target of small numbers' 1 bash -c 'fit-boost --number -y y nano.csv | fit-predict -m - --score nano.csv |
    csv-calc --print="r_squared > 0.999"'
done_testing
