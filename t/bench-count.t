#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > p.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile unsigned long n = strtoul(argv[argc > 1], 0, 10), s = 0;
    for (unsigned long i = 0; i < n; i++) __asm__ volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop" ::: "memory");
    void *p = malloc(1000), *q = calloc(10, 10);
    p = realloc(p, 5000);
    free(p);
    free(q);
    return (int)s;
}
C
cc -O1 -o p p.c
value() { bench-count --quiet "$@" | tail -n +2 | cut -d, -f3 | paste -sd' '; }
if command -v qemu-x86_64 > /dev/null; then
    a=$(value --metric=instructions './p 1000') b=$(value --metric=instructions './p 3000')
    is 'instructions are exact: 2000 more rounds of 5 and the loop' 0 sh -c "echo $(((b - a) % 2000))"
    ok 'and at least 7 a round' test $(((b - a) / 2000)) -ge 7
    is 'two runs agree' yes sh -c "bench-count --metric=instructions './p 1000' | tail -n 1 | cut -d, -f4"
    cat > grows <<'S'
    echo >> lines
    for i in $(seq $(grep -c '' lines)00); do :; done
S
    bench-count --metric=instructions --runs=2 ./p 'sh grows' 'sh grows' > grown.csv 2> said
    is 'counts that differ: rows say no, one line by how much' 'yes no no
bench-count: 2 counts differ between runs, most that of '"'sh grows', by N %: not exact" sh -c \
        "sed 1d grown.csv | cut -d, -f4 | paste -sd' '; sed 's/by [1-9][0-9.]* %/by N %/' said"
else
    skip instructions 'no qemu-user'
fi
is 'allocations and their bytes' '3 6100' value --metric=allocations ./p
if command -v size > /dev/null; then
    is 'text as size(1) counts it' "$(size p | awk 'NR == 2 { print $1 }')" sh -c "bench-count --metric=size ./p | grep text_bytes | cut -d, -f3"
    cc -c -O1 p.c
    is 'of an object file too' "$(size p.o | awk 'NR == 2 { print $1 }')" sh -c "bench-count --metric=size p.o | grep text_bytes | cut -d, -f3"
fi
if command -v valgrind > /dev/null; then
    is 'modelled cycles, by cachegrind, exact' 'modelled_cycles cachegrind yes' sh -c "bench-count --metric=cycles './p 10' | tail -n 1 | awk -F, '{ print \$2, \$6, \$4 }'"
fi
printf '#!/bin/sh\n' > script
chmod +x script
ok 'a script has no instructions of its own' sh -c '! bench-count --metric=instructions ./script'
is 'and says why' 'not an ELF program' sh -c "bench-count --metric=instructions ./script | tail -n 1 | cut -d, -f7"
head -c 100 p > broken
chmod +x broken
is 'a broken file is no ELF' 'not an ELF64 file with sections' sh -c "bench-count --metric=size ./broken | tail -n 1 | cut -d, -f7"
fails 'an unknown metric' 2 'joules' bench-count --metric=joules ./p
# a program reads its whole environment when it starts: counts must not depend on who counts
bare() { env -i PATH="$PATH" HOME=/nowhere bench-count --metric=instructions --runs=1 --label=x true; }
rich() { env ONE=1 TWO=two THREE="$(printf 'x%.0s' {1..999})" bench-count --metric=instructions --runs=1 --label=x true; }
is 'the same count in every environment' "$(bare)" rich
printf '#include <stdlib.h>\n#include <stdio.h>\nint main(void) { puts(getenv("KEPT") ? "kept" : "lost"); return 0; }\n' > env.c
cc -o env env.c
kept() { KEPT=1 bench-count --metric=instructions --runs=1 --label=x "$@" ./env | tail -1 | sed 's/.*,//'; }
ok 'variables are kept by name' bash -c "[ $(kept) != $(kept --env=KEPT) ]"
mkdir there && cp p there/q && export PATH=$PWD/there:$PATH
tried() { bench-count --quiet --runs=1 "$@" | csv-cut -c status | tail -n +2 | sort -u; }
is 'a program in its folder' ok tried --metric=size --metric=allocations -C there './q 9'
is 'is not looked for here' "$(value --metric=size there/q)" value --metric=size -C there ./q
! command -v qemu-x86_64 > /dev/null || is 'nor when its instructions are counted' ok tried --metric=instructions -C there './q 9'
! command -v valgrind > /dev/null || is "a program of one's own PATH" ok tried --metric=cycles 'q 9'
is 'no program is no counter that is missing' 'no such program' eval 'bench-count --metric=allocations --metric=cycles ./none | csv-cut -c status | tail -n +2 | sort -u'
fails 'nor is no input' 1 'none: No such file' bench-count --input=none ./p
is 'a program that is only here has no size there' 'No such file or directory' tried --metric=size -C there ./p
is 'a status that was not expected is a row' 1 eval "bench-count --quiet --exit=3 --runs=1 --metric=allocations './p 9' | sed 1d | wc -l"
done_testing
