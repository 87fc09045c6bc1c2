#!/bin/bash
# data/programs.csv: programs that work, none whose run is a message of an error
. "${0%/*}/tap.sh"
table=$root/data/programs.csv
rows() { csv-calc --where="$1" --print=name "$2" | wc -l; }
ok 'the table is sound' csv-check --need=name,set,package,build,search,confirm \
    --known=name,set,package,build,search,confirm --unique=name "$table"
is 'no program is confirmed on the run that is searched on' 0 rows 'search == confirm' "$table"
is 'each run reads a file' 0 rows "!(search ~ '[.A-Z]') || !(confirm ~ '[.A-Z]')" "$table"
is 'sixteen programs to be tried' 16 rows "set == 'test'" "$table"
is 'apart from six to be learned from' 6 rows "set == 'train'" "$table"
is 'of programs whose text counts alone nothing is run' 0 rows 'known(search) || known(confirm)' "$root/data/small.csv"
done_testing
