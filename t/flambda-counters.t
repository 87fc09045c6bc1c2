#!/bin/bash
. "$(dirname "$0")/tap.sh"
line() { # STEP STATIC SECONDS: 51 fields
    echo "$1,h,$(seq -s, 3 49),$2,$3"
}
{ line /r/opt_data/initial/0/x N/A 2; line /r/opt_data/initial/0/x 100 2; line /r/opt_data/1/0/x 100 1.5; } > a.csv
: > b.csv
flambda-counters a.csv b.csv > c.csv
is 'a header, N/A empty, a file without rows a row of its own' 'a /r/opt_data/initial/0/x  2|a /r/opt_data/initial/0/x 100 2|a /r/opt_data/1/0/x 100 1.5|b   |' bash -c "csv-cut -c benchmark,step,static_instructions,seconds c.csv | awk -F, 'NR > 1 { printf \"%s %s %s %s|\", \$1, \$2, \$3, \$4 } END { print \"\" }'"
is 'columns stand where they belong' '3 17 19 49 real' bash -c "csv-cut -c major_collections,first_branches,again_branches,dtlb_stores,kind c.csv | sed -n 2p | tr , ' '"
fails 'a short line is refused' 1 'd.csv:1: 3 fields' bash -c 'echo a,b,3 > d.csv; flambda-counters d.csv'
fails 'text among the numbers is refused' 1 "e.csv:1: column 'seconds': 'x'" bash -c "$(declare -f line); line s 1 x > e.csv; flambda-counters e.csv"
fails 'a git-LFS pointer is refused' 1 'f.csv:1: a git-LFS pointer' bash -c 'echo version https://git-lfs.github.com/spec/v1 > f.csv; flambda-counters f.csv'
done_testing
