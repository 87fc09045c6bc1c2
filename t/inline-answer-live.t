#!/bin/bash
# a trial as a job: the same row and files as inline-run leaves, wherever WORK lies
. "$(dirname "$0")/tap.sh"
need_llvm
cp -r "$root/data/demo" demo
inline-module --out=w demo 2> why || { cat why >&2; exit 1; }
inline-run --default --none --threshold=25 --complete --store=s --history=h.csv w
inline-run --answer --default --complete w > row.csv
is 'a row: that of the history, and two texts' "$(head -1 h.csv),parts,set" head -1 row.csv
same() { diff <(csv-cut --drop=build_seconds,parts,set "$1") <(csv-where -c decisions --is="$2" h.csv | csv-cut --drop=build_seconds); }
ok 'the same as of inline-run' same row.csv default
text() { csv-calc --print="$2" "$1"; }
hash=$(csv-calc --print=output_hash row.csv)
inline-run --answer --none --complete --reference="$hash" w > none.csv
ok 'for inlining nothing too' same none.csv none
inline-run --answer --threshold=25 --complete --reference="$hash" w > t.csv
ok 'and a threshold' same t.csv threshold-25
inline-run --answer --reference="$hash" --complete w < s/default.sexp > set.csv
is 'a set from standard input' "$(csv-calc --where='decisions == "default"' --print=instructions h.csv)" csv-calc --print=instructions set.csv
is 'other output than the reference is told' output bash -c "inline-run --answer --default --reference=0123456789abcdef w | csv-calc --print=state"
# moved as a host would have it: the folders below another root, the old place gone
mkdir -p "there$T" && mv w demo "there$T"
inline-run --answer --root=there --default --complete "there$T/w" > moved.csv
ok 'below another root, where the old place is gone' same moved.csv default
mv "there$T"/* .
# jobs and answers
inline-run --plan --default --none --threshold=25 --complete --store=s2 --history=h2.csv w > first.csv
is 'the default is planned first, alone' default bash -c 'csv-cut -c job first.csv | tail -n +2'
ok 'all of it by jobs' "$root/pipelines/trials" s3 h3.csv w --default --none --threshold=25 --complete
ok 'leaves the same files' diff -r s s3
ok 'and rows' diff <(csv-cut --drop=build_seconds h.csv | sort) <(csv-cut --drop=build_seconds h3.csv | sort)
is 'again: nothing to do' 1 bash -c 'inline-run --plan --default --none --complete --store=s3 --history=h3.csv w | wc -l'
fails 'an answer that names a file elsewhere is refused' 1 "'../evil'" bash -c "sed '2s/^demo,default/demo,..\/evil/' row.csv | inline-run --take=- --store=s3 --history=h3.csv w"
ok 'and nothing was written' test ! -e evil.sexp
# runs that write beside their input: nothing of it stays, and it is a part of the output
for word in a b; do
    mkdir "writes-$word"
    printf 'int printf(const char *, ...); void *fopen(const char *, const char *); int fputs(const char *, void *);\n%s' \
        "static int put(void) { return fputs(\"$word\", fopen(\"left\", \"a\")); } int main(void) { return !printf(\"x\") + (put() < 0); }" \
        > "writes-$word/main.c"
    printf 'build main.c\nsearch x ; y\nconfirm z\n' > "writes-$word/program"
    inline-module --out="w-$word" "writes-$word"
    inline-run --answer --default "w-$word" | csv-calc --print=output_hash > "hash-$word"
    inline-run --answer --none "w-$word" | csv-calc --print='concat(state, output_hash)' > "none-$word"
done
is 'what runs write is not left in the folder of the program' $'main.c\nprogram' ls writes-a
is 'the same under other decisions' "ok$(cat hash-a)" cat none-a
ok 'and other files are another output' bash -c '! cmp -s hash-a hash-b'
fails 'two heuristics at once' 2 'more than one' inline-run --answer --default --none w
done_testing
