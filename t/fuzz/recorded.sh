#!/bin/bash
# recorded.sh DIR - a compile_commands.json, and an object with both sections where there is a compiler
d=$1
printf '1[{"directory":"/d","file":"a.c","command":"cc -O2 -DX=\\"1 2\\" -c a.c"},{"directory":"/d","file":"b.c","arguments":["cc","-c","b.c"],"output":"b.o"}]' > "$d/commands"
t=$(mktemp -d)
{
    printf '.section .millrace.cc,"",@progbits\n.ascii "millrace-cc compile /d a.c -O2 -DX\\n"\n'
    printf '.section .millrace.ld,"",@progbits\n.ascii "millrace-cc link /d -Lsub -lm\\n"\n'
} > "$t/a.s"
if cc -c -o "$t/a.o" "$t/a.s" 2> /dev/null; then { printf 0; cat "$t/a.o"; } > "$d/object"; fi
rm -r "$t"
