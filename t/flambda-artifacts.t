#!/bin/bash
. "$(dirname "$0")/tap.sh"
echo 'int main(void) { return 0; }' > p.c
mkdir -p 7/0
gcc -O1 -c -o p.o p.c && gcc -O1 -o 7/0/program p.c || exit 99
cp p.o p.c 7/0
tar -C 7/0 -czf 7/0/artifacts.tar program p.o p.c
want=$(objdump -d --no-show-raw-insn -j .text 7/0/program | sed '/^$/d; /:$/d; /^\t*\.\.\.$/d' | wc -l)
is 'the program alone counts, as the study counted' "archive,step,member,static_instructions
7/0/artifacts.tar,7/0,program,$((want - 1))" flambda-artifacts 7/0/artifacts.tar
tar -cf none.tar p.c
is 'an archive without programs says so' $'archive,step,member,static_instructions\nnone.tar,.,,' flambda-artifacts none.tar
dd if=7/0/artifacts.tar of=cut.tar bs=1 count=300 2> /dev/null
fails 'a truncated archive is refused by name' 1 'cut.tar' flambda-artifacts cut.tar
echo hello > text.tar
fails 'what is no archive is refused' 1 'text.tar' flambda-artifacts text.tar
fails 'a missing archive is refused' 1 'gone.tar' flambda-artifacts gone.tar
done_testing
