#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'name,x_ns,y\nvgg,1,0.123456789\n"long, er",100,\n' > t
is "aligned; numbers to the right" $'name      x_ns            y\n--------  ----  -----------\nvgg          1  0.123456789\nlong, er   100             ' csv-show --digits=0 t
is "four digits, unless told otherwise; whole numbers stay" $'     a\n------\n0.1235\n123456\n123457\n1e-09\n   nan' eval 'printf "a\n0.12345678\n123456\n123456.7\n1e-9\nnan\n" | csv-show | sed "s/^ *1e-09/1e-09/"'
is "wide characters take two places, combining marks none" $'a     b\n----  -\n漢字  1\nab    2\né     3' eval 'printf "a,b\n漢字,1\nab,2\ne\xcc\x81,3\n" | csv-show | sed "s/e\xcc\x81/é/"'
is "Markdown" $'| a    |   n |\n|------|----:|\n| x\\|y | 1.5 |' csv-show --markdown <(printf 'a,n\nx|y,1.5\n')
is "rounded" $'name      x_ns      y\n--------  ----  -----\nvgg          1  0.123\nlong, er   100       ' csv-show --digits=3 t
is "some columns" $'x_ns  name    \n----  --------\n   1  vgg\n 100  long, er' eval 'csv-show -c x_ns,name t | sed "1s/name/name    /"'
is "a width: long fields are cut" $'name   x_ns\n-----  ----\nvgg       1\nlon..   100' csv-show -c name,x_ns --width=5 t
is "some rows" $'x_ns\n----\n   1\n(1 more rows)' csv-show -c x_ns -n 1 t
is "characters, not bytes; control characters" $'a   b\n--  -\näü  x\n?   y' eval 'printf "a,b\näü,x\n\033,y\n" | csv-show'
is "header only" $'a\n-' eval 'printf "a\n" | csv-show'
fails "no such column" 1 "no column 'q'" csv-show -c q t
is 'names are not rounded' $'0.33333333  0.33333334\n----------  ----------\n    0.3333         1.5' csv-show <(printf '0.33333333,0.33333334\n0.33333333,1.5\n')
is 'a control character of two bytes' $'a\n---\nx?y' eval "printf 'a\nx\302\233y\n' | csv-show"
done_testing
