#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'a,b\n1,2\n' > 1
printf 'a,b\r\n3,"4,""5"""\r\n' > 2
printf 'b,c\n5,6\n' > 3
is "one table" $'a,b\n1,2' csv-cat 1
is "files with the same columns are put below each other" $'a,b\n1,2\n3,"4,""5"""' csv-cat 1 2
is "standard input is a table too" $'a,b\n1,2' csv-cat < 1
is "- among files is standard input" $'a,b\n1,2\n3,"4,""5"""' csv-cat - 2 < 1
is "the file's name becomes a column" $'file,a,b\n1,1,2\n2,3,"4,""5"""' csv-cat --source=file 1 2
is "with --fill columns may differ" $'a,b,c\n1,2,\n,5,6' csv-cat --fill 1 3
is "both" $'file,a,b,c\n1,1,2,\n3,,5,6' csv-cat --fill --source=file 1 3
printf '1\n2\n' > list
is "names of files from a list" $'a,b\n1,2\n3,"4,""5"""' csv-cat --files-from=list
is "the list may be standard input" $'a,b\n1,2\n3,"4,""5"""' csv-cat --files-from=- < list
fails "other columns are an error that names both files" 1 '3:1: header differs from that of 1' csv-cat 1 3
fails "a column of that name is there already" 1 "two columns would be called 'a'" csv-cat --source=a 1
fails "also with --fill" 1 "two columns would be called 'c'" csv-cat --fill --source=c 1 3
fails "an empty list" 1 'no file names' csv-cat --files-from=/dev/null
fails "a list and operands" 2 'exclude each other' csv-cat --files-from=list 1
is "pipes are read twice, too" $'a,b,c\n1,2,\n,5,6\n7,,' csv-cat --fill 1 - <(printf 'a\n7\n') < 3
is "standard input as a pipe" $'b,c,a\n5,6,\n2,,1' eval 'cat 3 | csv-cat --fill - 1'
fails "standard input has a name in messages" 1 "\(stdin\):2: 1 field, header has 2" eval "printf 'a,b\n1\n' | csv-cat -"
fails "a byte-order mark and nothing else" 1 ":1: no header row" eval "printf '\xef\xbb\xbf' | csv-cat"
fails "a long value is cut in messages" 1 "column 'a': '$(printf 'x%.0s' {1..200})' is not a number" eval "printf 'a\n%s\n' $(printf 'x%.0s' {1..201}) | csv-group -c a"
# a row that says the same as the header, and the header of a table behind another
is 'the header again, of names that need quotes' $'a,"b,c"\n1,2\n3,4' bash -c "printf 'a,\"b,c\"\n1,2\na,\"b,c\"\n3,4\n' | csv-cat 2> no"
is 'or that have them without need' $'a,b\n1,2\n3,4' bash -c "printf '\"a\",\"b\"\n1,2\n\"a\",\"b\"\n3,4\n' | csv-cat 2> no"
for n in 16381 16382 16383 16384; do
    { echo x,b; for ((i = 0; i < n; i++)); do echo 1,2; done; echo '"x",b'; } > long.csv
    is "a row like the header is kept at the end of the writer's buffer ($n)" "$(wc -l < long.csv)" bash -c 'csv-sort -k x long.csv | csv-cat 2> said | wc -l'
done
mkfifo p.tsv
printf 'a\tb\n1\t2\n' > p.tsv &
printf 'a\n9\n' > o.csv
is 'what comes by a pipe is told by its name' $'f,a,b\np.tsv,1,2\no.csv,9,' csv-cat --fill --source=f p.tsv o.csv
done_testing
