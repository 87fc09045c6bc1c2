#!/bin/bash
. "$(dirname "$0")/tap.sh"
h=line,column,value,fault
printf 'a_ns,b\n1,x\n2,y\n' > t
is "a sound table" $h csv-check --names --need=a_ns --known=a_ns,b --number=a_ns --integer=a_ns --unique=b --rows=2 t
printf 'A,b\n1,x\n,x\n1.5,y\nz,x\n' > u
is "all faults, each with its place" "$h"$'\n1,A,,name is not [a-z][a-z0-9_]*\n1,q,,no such column\n3,A,,empty\n3,b,x,key seen before\n4,A,1.5,not an integer\n5,A,z,not a finite number\n5,A,z,not an integer\n5,b,x,key seen before\n5,,,too few rows\n1' \
    eval 'csv-check --names --need=q --known=A --number=A --integer=A --unique=b --rows=5 u; echo $?'
fails "a short row" 1 'v:3: 1 field, header has 2' eval 'printf "a,b\n1,2\n3\n" > v; csv-check v'
fails "a stray quote" 1 ':2: quote opened' eval 'printf "a,b\n1,x\"y\n" | csv-check'
fails "nothing at all" 1 'empty input' csv-check /dev/null
fails "a git-lfs pointer" 1 'git-LFS' eval 'printf "version https://git-lfs.github.com/spec/v1\noid x\n" | csv-check'
fails "a missing file is trouble" 2 'No such file' csv-check nothing
fails "a directory is trouble" 2 'no file' csv-check .
fails "a wrong option is trouble" 2 'no option' csv-check --wrong t
printf 'a\n1e999\n-1e400\n1e308\ninf\n-inf\nnan\n\n' > large.csv
is 'a number too large for a double is none; infinity has a name' '2 3' sh -c 'csv-check --number=a large.csv | csv-cut -c line | sed 1d | paste -sd" "'
# what GNU parallel leaves: tables one behind the other, each with its header
printf 'a,b\n1,2\na,b\n3,4\na,b\n' > twice
is 'the header again is counted' $'line,column,value,fault\n3,,2,rows are the header again' eval 'csv-check --quiet twice; [ $? = 1 ]'
is 'and no row of the table' $'a,n_rows\n1,1\n3,1' csv-group --quiet -g a twice
fails 'a note says so, once' 0 'twice:3: the header again' csv-cat twice
is 'one note' 1 eval 'csv-cat twice 2>&1 > /dev/null | grep -c again'
is 'a table without a header' $'a,b,c\n1,2,3\n3,4,7' eval "printf '1,2\n3,4\n' | csv-calc --header=a,b --set=c=a+b"
fails 'of other columns' 1 '2 fields, header has 3' eval "printf '1,2\n' | csv-cat --header=a,b,c"
fails 'a name that is empty' 2 'column without a name' eval "printf '1,2\n' | csv-cat --header=a,,c"
done_testing
