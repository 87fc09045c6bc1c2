#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'a,b,x_ns,y_ns,"c,d"\n1,2,3,4,"5,6"\n' > t
is "columns in the order given" $'b,a\n2,1' csv-cut -c b,a t
is "a range" $'b,x_ns,y_ns\n2,3,4' csv-cut -c b..y_ns t
is "a range the other way" $'y_ns,x_ns\n4,3' csv-cut -c y_ns..x_ns t
is "a pattern" $'x_ns,y_ns,a\n3,4,1' csv-cut -c '*_ns,a' t
is "all but some" $'a,b,"c,d"\n1,2,"5,6"' csv-cut --drop='?_ns' t
is "new names" $'time_ns,b\n3,2' csv-cut -c x_ns,b --rename=x_ns=time_ns t
is "names can be exchanged" $'b,a\n1,2' csv-cut -c a,b --rename=a=b --rename=b=a t
is "renaming alone keeps all columns" $'z,b,x_ns,y_ns,"c,d"\n1,2,3,4,"5,6"' csv-cut --rename=a=z t
is "header only" $'a\n' eval 'printf "a,b\n" | csv-cut -c a; echo'
fails "a column that is not there" 1 "t:1: no column 'q'" csv-cut -c q t
fails "then it is said what there is" 1 "no column 'q'; there are host, path, ms" bash -c "echo host,path,ms | csv-sort -k q"
fails 'no header' 1 "no column 'ms'; there are 1, 2.5: is the line with the names of the columns missing" bash -c 'echo 1,2.5 | csv-sort -k ms'
fails "and that another separator is meant" 1 "separated by ';', see --delimiter" bash -c "echo 'host;path;ms' | csv-sort -k ms"
fails 'JSON for a table' 1 'this is JSON, a table is wanted' csv-cut -c a <(echo '{"a":1}')
fails 'and an array of it' 1 'this is JSON' csv-cut -c a <(echo '[{"a":1}]')
fails 'a graph for a table' 1 'place-cost or place-profile makes one of a graph' csv-cut -c a <(echo '(graph (tensor t))')
fails 'and another s-expression' 1 'sexp-to-csv makes one' csv-cut -c a <(echo '(gramma (tensor t))')
fails "a pattern that matches nothing" 1 "no column matches 'q\*'" csv-cut -c 'q*' t
fails "a column twice" 2 'twice' csv-cut -c a,a t
fails "an empty name" 2 'empty' csv-cut -c a,,b t
fails "no column would be left" 2 'no column would be left' csv-cut --drop='*' t
fails "two columns of one name" 1 "would be called 'b'" csv-cut --rename=a=b t
fails "a new name for nothing" 1 "no column 'q'" csv-cut --rename=q=b t
fails "a rename without =" 2 'OLD=NEW' csv-cut --rename=a t
fails "nothing to do" 2 'nothing to do' csv-cut t
fails "keep and drop" 2 'exclude' csv-cut -c a --drop=b t
# against cut(1), which is right as long as nothing is quoted
seq 1000 | awk 'BEGIN{print "p,q,r"}{print $1*7%11 "," $1 "," $1*$1%97}' > n
is "the same as cut(1)" "$(cut -d, -f1,3 n)" csv-cut -c p,r n
is "a carriage return at a field's end is quoted" $'b,a\ny,"x\r"' eval "printf 'a,b\nx\r,y\n' | csv-cut -c b,a"
fails 'a message has no control characters of the input' 1 "no column matches 'a[?][[]2Jb'" csv-cut -c $'a\033[2Jb' n
printf 'label,x\n1,2\n' > near.csv
fails 'the first name is near, too' 1 "did you mean 'label'" csv-cut -c labl near.csv
printf 'a[0],a..b,a0\n1,2,3\n' > odd
is "a column is found by its name, whatever it holds" $'a..b,a[0]\n2,1' csv-cut -c 'a..b,a[0]' odd
is "what is no name is a pattern" $'a[0],a0\n1,3' csv-cut -c 'a[[]*,a[0-9]' odd
done_testing
