#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
ok 'leaves the module, the module for size, the table and what may never be inlined' test -s w/module.bc -a -s w/module-Oz.bc -a -s w/program.csv
is 'the compiler says which functions no decision may inline' $'callee,reason\nquicksort,recursive\nsay,varargs' cat w/never.csv
is 'only what is needed is left' $'module-Os.bc\nmodule-Oz.bc\nmodule.bc\nnever.csv\nprogram.csv' ls w
printf 'name,set,package,build,search,confirm\ndemo,train,,*.c,sort <main.c,words <main.c\n' > p.csv
ok 'a row of a table says the same as three lines' inline-module --table=p.csv --program=demo --out=w2 demo
ok 'the same module' cmp w/module.bc w2/module.bc
mkdir bad; cp demo/* bad; echo 'int broken( {' > bad/broken.c
fails 'a program that does not compile' 1 'broken.c: clang-14 exit 1: .*error: ' inline-module --out=w3 bad
printf 'build *.c\nsearch <nope.txt\nconfirm x\n' > bad/program
fails 'an input that is not there' 1 'bad/program:1: input .*nope.txt: No such file' inline-module --out=w3 bad
printf 'build nope*.c\nsearch x\nconfirm x\n' > bad/program
fails 'sources that are not there' 1 "no file matches 'nope\*.c'" inline-module --out=w3 bad
printf 'build *.c\nsearch x\n' > bad/program
fails 'a missing line' 1 'a line `confirm ...` is missing' inline-module --out=w3 bad
printf 'bild *.c\n' > bad/program
fails 'an unknown line' 1 "bad/program:1: 'bild' is not build" inline-module --out=w3 bad
fails 'an unknown program' 1 "no program 'x'" inline-module --table=p.csv --program=x --out=w3 demo
fails 'a missing compiler' 1 'clang-98, opt-98 or llvm-link-98 not found' inline-module --clang=98 --out=w3 demo
fails 'no source directory' 2 'one source directory' inline-module --out=w3
done_testing
