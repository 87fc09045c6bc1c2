#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'name,v\na,1\nb,2.5\nc,\nd,nan\ne,-inf\n"f,g",1e3\n' > t
is "at most" $'name,v\na,1\ne,-inf' csv-where -c v --max=2 t
is "at least" $'name,v\nb,2.5\n"f,g",1e3' csv-where -c v --min=2 t
is "between" $'name,v\na,1\nb,2.5' csv-where -c v --min=1 --max=2.5 t
is "not between: empty fields and nan are never in a range" $'name,v\nc,\nd,nan\ne,-inf\n"f,g",1e3' csv-where -c v --min=1 --max=2.5 --not t
is "known" $'name,v\nc,' csv-where -c v --known --not t
is "one of several texts" $'name,v\na,1\n"f,g",1e3' csv-where -c name --is=a --is=f,g t
is "a pattern" $'name,v\n"f,g",1e3' csv-where -c name --like='f*' t
is "two conditions" $'name,v' csv-where -c name --like='f*' --is=a t
is "text is compared as text" $'name,v' csv-where -c v --is=1000 t
fails "no number" 1 "t:2: column 'name': 'a' is not a number" csv-where -c name --min=1 t
fails "no column" 2 'no column given' csv-where --min=1 t
fails "no such column" 1 "no column 'q'" csv-where -c q --min=1 t
fails "no condition" 2 'no condition' csv-where -c v t
fails "nan is no bound" 2 'not nan' csv-where -c v --min=nan t
seq 2000 | awk 'BEGIN{print "x"}{print ($1*7919%1000)/8}' > n
is "the same as awk" "$(awk 'NR==1 || ($1>=20 && $1<=90)' n)" csv-where -c x --min=20 --max=90 n
is 'a pattern is of characters' 1 eval "printf 'a\ncafé\n' | csv-where -c a --like='caf?' | csv-where -c a --like='caf[é]' | sed 1d | wc -l"
done_testing
