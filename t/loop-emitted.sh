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
