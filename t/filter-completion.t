#!/bin/bash
# filter-completion.t - what a tab completes, asked of the function itself as bash would.
. "$(dirname "$0")/tap.sh"
. "$root/share/completion.bash"
# after WORDS.. : what _millrace offers for the last word
tab() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _millrace "$1" 2> /dev/null
    echo "${COMPREPLY[*]}"
}
printf 'host,path,"ms"\na,b,1\n' > t.csv
is 'an option' '--delimiter=' tab csv-join --del
is 'several' '--key= --keep=' tab csv-join --ke
is 'the words of an option' 'matched left all unmatched' tab csv-join --keep = ''
is 'what was begun' 'matched' tab csv-join --keep = ma
is 'right after the sign' 'matched left all unmatched' tab csv-join --keep =
is 'as two arguments' 'unmatched' tab csv-join --keep un
is 'columns of the file on the line' 'host path ms' tab csv-cut t.csv -c ''
is 'of a list the last' 'host,path' tab csv-cut t.csv -c host,pa
is 'after the long name' 'ms' tab csv-cut t.csv --column = m
is 'a file: left to the shell' '' tab fit-predict -m ''
is 'and a number' '' tab csv-sample --first = 1
is 'options after a value that is complete' '--first=' tab csv-sample -n 3 --fi
done_testing
