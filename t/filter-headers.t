#!/bin/bash
# a row equal to the header is the header again (tables one behind the other), and tables without a header are named
. "$(dirname "$0")/tap.sh"
printf 'a,b\n1,x\na,b\n2,x\na,b\n3,y\n' > t.csv
printf 'a,b\n1,x\n2,x\n3,y\n' > clean.csv
dropped() { "$@" 2> note || return; [ "$(cat note)" = "$1: t.csv:3: the header again: left out, as every such row" ]; }
same() { "$@" t.csv > got 2> note || return; "$@" clean.csv > want || return
    cmp got want && [ "$(cat note)" = "$1: t.csv:3: the header again: left out, as every such row" ]; }
ok 'csv-cat' same csv-cat
ok 'csv-group' same csv-group -g b -c a
ok 'csv-sort' same csv-sort -k a:n
ok 'csv-calc' same csv-calc --set='c=a*2'
ok 'csv-where' same csv-where -c b --is=x
ok 'csv-dedupe' same csv-dedupe -k b
ok 'csv-show' same csv-show
ok 'csv-pivot' same csv-pivot -k b --names=a --values=a
ok 'fit-encode' same fit-encode -c b
ok 'csv-join' eval 'csv-join --quiet -k a t.csv t.csv > got && csv-join -k a clean.csv clean.csv | cmp - got'
ok 'csv-diff' csv-diff --quiet t.csv clean.csv
is 'without the note' '0' eval 'csv-group --quiet -g b t.csv 2>&1 > /dev/null | wc -c'
printf 'x\n1\nx\n2\n' | csv-group --quiet -c x --stat=sum > out
is 'of one column' $'n_rows,sum_x\n2,3' cat out
printf '"a,1","b"\n1,2\n"a,1",b\n3,4\n' | csv-cut --quiet -c b > out
is 'with quotes' $'b\n2\n4' cat out
is 'what is nearly the header is a row' $'a,b
a,B
b,a' eval 'printf "a,b\nb,a\na,B\n" | csv-sort -k a'
is 'a row of ours that happens to say the same is told from the header' $'x\n"x"\n2' eval 'printf "x,y\nx,1\n2,2\n" | csv-cut -c x'
is 'and read as a row' $'n_rows\n2' eval 'printf "x,y\nx,1\n2,2\n" | csv-cut -c x | csv-calc --set="n_rows=run_count()" | csv-cut -c n_rows | sed 2d'
printf '1,x\n2,x\n3,y\n' > bare.csv
printf '4,z\n' > bare2.csv
is '--header names the columns' $'b,n_rows,sum_a\nx,2,3\ny,1,3\nz,1,4' csv-group --header=a,b -g b -c a --stat=sum bare.csv bare2.csv
is '--header of both tables' $'a,b,b_right\n2,x,x' eval 'printf "2,x\n" | csv-join --header=a,b -k a - bare.csv'
fails '--header with too few names' 1 'bare.csv:1: 2 fields, header has 1' csv-cat --header=a bare.csv
fails '--header with an empty name' 2 "has a column without a name" csv-cat --header=a,,b bare.csv
fails '--header with a name twice' 1 "duplicate column 'a'" csv-cat --header=a,a bare.csv
ok 'a file that has the header too' eval '[ "$(csv-cat --quiet --header=a,b clean.csv)" = "$(cat clean.csv)" ]'
done_testing
