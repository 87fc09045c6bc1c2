#!/bin/bash
# programs that lock themselves in, under every option of prof-record: the same output, status and files
. "${0%/*}/tap.sh"
[ "$(uname -m)" = x86_64 ] || { echo '1..0 # skip the recorder sees filters of system calls coming on x86-64 only'; exit 0; }
command -v "${CC:-cc}" > /dev/null || { echo '1..0 # skip no compiler'; exit 0; }
ldd "$B/prof/libmillrace-calls.so" 2> /dev/null | grep -q libasan && { echo '1..0 # skip built with a sanitizer'; exit 0; }
cat > locked.c <<'D'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define OK(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static size_t work(void)
{
    size_t n = 0;
    char b[32];
    for (int i = 0; i < 100000; i++) { snprintf(b, sizeof b, "%d", i); n += strlen(b); }
    return n;
}
static void *thread(void *a) { work(); return a; }
int main(int argc, char **argv)
{
    const char *what = argv[argc - 1];
    struct sock_filter f[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        OK(SYS_read), OK(SYS_write), OK(SYS_brk), OK(SYS_mmap), OK(SYS_munmap), OK(SYS_exit_group), OK(SYS_exit), OK(SYS_newfstatat), OK(SYS_futex), OK(SYS_getrandom),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS) };
    struct sock_fprog p = { sizeof f / sizeof *f, f };
    work();
    if (argc > 2 && !strcmp(argv[1], "exec")) {          /* locks in whom it starts */
        struct sock_filter only[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            OK(SYS_read), OK(SYS_write), OK(SYS_close), OK(SYS_openat), OK(SYS_newfstatat), OK(SYS_fstat), OK(SYS_mmap), OK(SYS_mprotect),
            OK(SYS_munmap), OK(SYS_brk), OK(SYS_pread64), OK(SYS_access), OK(SYS_execve), OK(SYS_arch_prctl), OK(SYS_set_tid_address),
            OK(SYS_set_robust_list), OK(SYS_rseq), OK(SYS_prlimit64), OK(SYS_getrandom), OK(SYS_futex), OK(SYS_exit_group),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS) };
        /* what an interpreter never does by itself */
        #define NO(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
        struct sock_filter not[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            NO(SYS_mkdir), NO(SYS_fallocate), NO(SYS_ftruncate), NO(SYS_pwrite64), NO(SYS_timer_create), NO(SYS_clone), NO(SYS_process_vm_readv),
            NO(SYS_rt_sigpending), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
        p = !strcmp(argv[2], "only") ? (struct sock_fprog){ sizeof only / sizeof *only, only } : (struct sock_fprog){ sizeof not / sizeof *not, not };
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)) return 9;
        execv(argv[3], argv + 3);
        return 7;
    }
    if (argc > 2 && !strcmp(argv[1], "under")) {         /* in what its parent made of it: no files, another user, nothing to read */
        struct landlock_ruleset_attr a = { .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG };
        if (!strcmp(argv[2], "landlock")) {
            int r = (int)syscall(SYS_landlock_create_ruleset, &a, sizeof a, 0);
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            if (r < 0 || syscall(SYS_landlock_restrict_self, r, 0)) return 9;
            close(r);
        } else if (setgid(65534) || setuid(65534)) return 9;
        execv(argv[3], argv + 3);
        return 7;
    }
    if (!strcmp(what, "prctl") || !strcmp(what, "syscall")) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 8;
        /* asked first whether there are filters at all, as libseccomp does: that locks nothing */
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) != -1 || errno != EFAULT) return 9;
        if (open("before", O_CREAT | O_WRONLY, 0600) < 0) return 7;
        if (what[0] == 'p' ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p)) return 9;
    } else if (!strcmp(what, "strict")) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) return 9;
        char line[32];
        syscall(SYS_write, 1, line, (size_t)snprintf(line, sizeof line, "strict %zu\n", work()));
        syscall(SYS_exit, 5);
    } else if (!strcmp(what, "landlock")) {
        struct landlock_ruleset_attr a = { .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_MAKE_REG };
        int r = (int)syscall(SYS_landlock_create_ruleset, &a, sizeof a, 0);
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        printf("%d\n", r < 0 ? 0 : (int)syscall(SYS_landlock_restrict_self, r, 0));
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
        pthread_join(t, NULL);
        printf("%d\n", open("not", O_CREAT | O_WRONLY, 0600));
    } else if (!strcmp(what, "chroot")) {
        if (chroot("/usr/share") || chdir("/")) return 9;
        printf("%d\n", access("doc", F_OK));
    } else if (!strcmp(what, "user")) {
        if (setgid(65534) || setuid(65534)) return 9;
    } else if (!strcmp(what, "descriptors")) {           /* those that it did not open */
        struct pollfd q[64];
        for (int i = 0; i < 64; i++) q[i] = (struct pollfd){ .fd = i + 3, .events = POLLIN };
        printf("%d\n", poll(q, 64, 0));
        for (int i = 3; i < 64; i++) printf("%d%d", dup2(1, 100 + i) > 0 && dup(i) < 0, close(i));
        for (int i = 103; i < 164; i++) close(i);
        puts("");
    }
    printf("done %zu\n", work());
    fflush(stdout);
    _exit(3);
}
D
cat > locked.py <<'D'
import ctypes, struct
libc = ctypes.CDLL(None)
ok = [0, 1, 3, 5, 8, 9, 11, 12, 13, 14, 16, 28, 60, 186, 202, 217, 231, 257, 262, 302, 318, 334]
program = struct.pack("HBBI", 0x20, 0, 0, 0)
for n in ok: program += struct.pack("HBBI", 0x15, 0, 1, n) + struct.pack("HBBI", 6, 0, 0, 0x7fff0000)
program += struct.pack("HBBI", 6, 0, 0, 0x80000000)
class F(ctypes.Structure): _fields_ = [("n", ctypes.c_ushort), ("p", ctypes.c_char_p)]
fp = F(len(program) // 8, program)
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.byref(fp)) == 0
import zlib
s = 0
for i in range(60000): s += len(str(i)) + abs(-i) + zlib.crc32(b"x")
print("done", s, flush=True)
D
${CC:-cc} -O1 -w -fno-builtin -o locked locked.c -lpthread || { fail 'the program is compiled'; done_testing; exit; }
same() { # NAME OPTION... -- COMMAND...: in folders of its own
    local name=$1 options=() d; shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    rm -rf plain recorded logs; mkdir plain recorded
    (cd plain && timeout 60 "$@" > out 2> err; echo $? > status) 2> /dev/null
    (cd recorded && timeout 60 prof-record --quiet "${options[@]}" ${MORE-} -o ../logs "$@" > out 2> err; echo $? > status) 2> /dev/null
    grep -q done plain/out || grep -q strict plain/out || { skip "$name" 'not allowed here'; return; }
    if diff -r plain recorded > differs 2>&1; then pass "$name"; else fail "$name"; sed 's/^/# /' differs | head; fi
}
for what in prctl syscall strict landlock chroot user descriptors; do
    same "$what" --calls='*' -- "$T/locked" $what
done
# by whoever started it, before it began
chmod 755 .
for how in exec\ only exec\ not under\ landlock under\ user; do
    # ld.so says what another user cannot read
    if [ "$how" = 'under user' ] && [ "$(id -u)" = 0 ] &&
        ! setpriv --reuid=65534 --clear-groups env test -r "$B/prof/libmillrace-calls.so"; then
        skip "$how" 'another user cannot read this folder'
        continue
    fi
    same "$how" --calls='*' -- "$T/locked" $how "$T/locked" plain
done
[ -z "${MORE-}" ] || { done_testing; exit; }
ok 'a program that begins under a filter is not recorded, who set it is' \
    eval 'rm -rf logs; prof-record --quiet --calls="*" -o logs "$T/locked" exec only "$T/locked" plain > out; [ "$(ls logs/names.* | wc -l)" = 1 ]'
for o in --ring=20000 --max-events=10 --max-passes=1 --delay=0.01 --skip-after=10 --each --judge=1000 --judge=0 --wait --bare --tree --wrap=math.*; do
    for what in prctl syscall strict landlock "exec only $T/locked plain"; do
        same "$o, $what" --calls='*' "$o" -- "$T/locked" $what
    done
done
same 'what there was is kept' --calls='snprintf,strlen' -- "$T/locked" prctl
is 'what came before the filter is whole, and what no longer had room is counted' 1 \
    eval 'prof-log --stat logs | csv-calc --print="records >= 400000 && dropped > 0 && stray == 0"'
if [ -e "$(recorder)" ]; then
    for o in --quiet --tree --judge=1000 --judge=0 --each --skip-after=10 '--wrap=math.*' '--calls=*' --ring=10000 --max-events=10 \
        --max-passes=1 --delay=0.01 --bare --wait; do
        same "Python, $o" "$o" -- /usr/bin/python3 "$T/locked.py"
        same "Python under a filter, $o" "$o" -- "$T/locked" exec not /usr/bin/python3 -c 'import zlib; print("done", sum(zlib.crc32(b"x") for i in range(20000)))'
    done
fi
done_testing
