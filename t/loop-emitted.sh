# loop-emitted.sh - main.c with an emitted kernel k.o and its C text k.c, by every compiler and on processors without the
# newest instructions; for tests, which source it and say emitted -O0 or -O1 for the C text
emitted() {
    ok 'the object, by gcc' eval 'gcc -O1 -w -fsanitize=address,undefined -o obj main.c k.o -lm && ASAN_OPTIONS=detect_leaks=0 ./obj'
    ok 'the C text, by gcc' eval "gcc $1 -w -o text main.c k.c -lm && ./text"
    command -v clang > /dev/null && ok 'and by clang' eval "clang $1 -w -o ctext main.c k.c -lm && ./ctext"
    command -v qemu-x86_64 > /dev/null || return 0
    gcc -O1 -w -static -o all main.c k.o -lm
    ok 'without AVX-512' eval 'qemu-x86_64 -cpu Haswell ./all 2> err'
    ok 'without AVX2' eval 'qemu-x86_64 -cpu Nehalem ./all 2> err'
}
# call.c, which says right when all is, and with an argument what instructions it has: with the object k.o and the text k_.c
called() {
    local cc
    for cc in gcc clang; do
        command -v $cc > /dev/null || continue
        $cc -O1 -Wall -Wextra -Werror -fsanitize=address,undefined -o clean call.c k.o -lm
        is "$cc: the object, a caller with sanitizers" 'right' ./clean
        $cc -O1 -Wall -Wextra -o text call.c k_.c -lm
        is "$cc: the C text" 'right' ./text
    done
    older call.c k.o
}
# a caller and what it is linked with, on processors without the newest instructions
older() {
    if ! command -v gcc > /dev/null || ! command -v qemu-x86_64 > /dev/null; then
        skip 'older processors' 'no gcc or no qemu-user here'
        return
    fi
    gcc -O1 -w -static -o old "$@" -lm
    is 'a processor without AVX-512' '1' haswell level
    is 'is served by AVX2' 'right' haswell
    is 'one without AVX2' '0' qemu-x86_64 -cpu Nehalem ./old level
    is 'by plain loops' 'right' qemu-x86_64 -cpu Nehalem ./old
}
haswell() { qemu-x86_64 -cpu Haswell,-pcid,-x2apic,-tsc-deadline,-invpcid,-spec-ctrl,-hle,-rtm ./old "$@" 2> /dev/null; }
