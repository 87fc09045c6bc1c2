#!/bin/bash
# mistakes that people make: each message names the way on
. "$(dirname "$0")/tap.sh"
printf 'id,name,seconds\n1,a,3\n2,b,x\n' > a.csv
printf 'label,round,cpu_seconds\nold,1,2\nold,2,2\nnew,1,3\nnew,2,3\n' > runs.csv
echo '(graph (name x))' > g.sexp
fails 'a column' 1 "no column 'nam'; did you mean 'name'\? there are id, name, seconds" csv-cut -c nam a.csv
fails 'the first one' 1 "did you mean 'id'" csv-cut -c ids a.csv
fails 'letters exchanged' 1 "did you mean 'seconds'" csv-sort -k secodns a.csv
fails 'nothing near' 1 "no column 'benchmark'; there are id" csv-cut -c benchmark a.csv
fails 'an option' 2 'no option --widht; did you mean --width\?' csv-show --widht=3 a.csv
fails 'the beginning of one' 2 'no option --col; did you mean --column\?' csv-cut --col=a a.csv
fails 'a letter' 2 'no option -c; there are -k \(--key\), -r \(--reverse\)' csv-sort -c id a.csv
fails 'a label' 3 "no label 'nwe' in the input; did you mean 'new'\? there are old, new" bench-compare --base=nwe runs.csv
fails 'another label' 3 "no label 'base' in the input; there are old, new, see --base" bench-compare --base=base runs.csv
fails 'no wall times: the metric that is there' 2 "no column 'wall_seconds': cpu_seconds is compared" bench-compare --base=old runs.csv
fails 'text where a number is wanted' 1 "'a' is not a number \(fit-encode makes numbers of texts, --ignore leaves a column out\)" fit-ridge -y seconds a.csv
fails 'an s-expression for a table' 1 'this is an s-expression, a table is wanted \(sexp-to-csv makes one\)' csv-cut -c id g.sexp
fails 'a table for an s-expression' 1 'this looks like a table, an s-expression is wanted \(sexp-from-csv makes one\)' sexp-to-csv a.csv
fails 'where one alone is wanted' 2 'more than one expression; this looks like a table' place-check a.csv
is 'columns one by one' $'name,id\na,1\nb,2' csv-cut -c name -c id a.csv
is 'dropped one by one' $'name\na\nb' csv-cut --drop=id --drop=seconds a.csv
is 'in every filter' 'name id' bash -c 'csv-show -c name -c id a.csv | head -1 | tr -s " "'
is 'keys too' $'id,name,n_rows\n1,a,1\n2,b,1' csv-group -g id -g name a.csv
printf 'id,z\n7,1\n' > other.csv
fails 'no row has a partner' 0 'none of 2 rows of a.csv has a partner in other.csv' csv-join -k id a.csv other.csv
done_testing
