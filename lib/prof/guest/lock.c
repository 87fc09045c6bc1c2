/* lock.c - see lock.h */
#include "prof/guest/lock.h"
#include "prof/guest/rec.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

bool lock_inherited(void)
{
    char b[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, b, sizeof b - 1) : -1;
    if (fd >= 0) close(fd);
    b[n > 0 ? n : 0] = 0;
    const char *filters = strstr(b, "\nSeccomp_filters:"), *then = getenv("MILLRACE_PROF_FILTERS");
    return filters && strtol(filters + 17, NULL, 10) > (then ? strtol(then, NULL, 10) : 0);
}

#if defined __x86_64__
static long raw(long n, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static long answer(long r)
{
    if (r >= 0 || r < -4095) return r;
    errno = (int)-r;
    return -1;
}

static long filtered(long n, long a, long b, long c, long d, long e, long f)
{
    bool strict = n == SYS_prctl ? b == SECCOMP_MODE_STRICT : a == SECCOMP_SET_MODE_STRICT, on = rec_on;
    rec_lock();
    if (strict) rec_on = false;                          /* that takes the time stamp counter away too */
    long r = raw(n, a, b, c, d, e, f);
    if (r < 0) {
        rec_unlock();
        rec_on = on;
    }
    return answer(r);
}

long lock_syscall(long, long, long, long, long, long, long);
long lock_error(long);

/* stands for syscall of libc; the assembly below leads here what may be a filter */
__attribute__((used, visibility("hidden"))) long lock_syscall(long n, long a, long b, long c, long d, long e, long f)
{
    bool filter = n == SYS_seccomp ? a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER
                                   : n == SYS_prctl && a == PR_SET_SECCOMP;
    return filter ? filtered(n, a, b, c, d, e, f) : answer(raw(n, a, b, c, d, e, f));
}

__attribute__((used, visibility("hidden"))) long lock_error(long r) { return answer(r); }

/* all others as libc has it: no frame of ours, since a call may return twice */
__asm__(".text\n.p2align 4\n.hidden lock_any\n.globl lock_any\n.type lock_any, @function\nlock_any:\n"
        "  cmpq $317, %rdi\n  je lock_syscall\n  cmpq $157, %rdi\n  je lock_syscall\n"
        "  movq %rdi, %rax\n  movq %rsi, %rdi\n  movq %rdx, %rsi\n  movq %rcx, %rdx\n  movq %r8, %r10\n"
        "  movq %r9, %r8\n  movq 8(%rsp), %r9\n  syscall\n  cmpq $-4095, %rax\n  jae 1f\n  ret\n"
        "1: movq %rax, %rdi\n  jmp lock_error\n.size lock_any, .-lock_any\n");
extern long lock_any(long, ...) __attribute__((visibility("hidden")));
_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157, "as the assembly has them");

static long stand_prctl(int option, long a, long b, long c, long d)
{
    return option == PR_SET_SECCOMP ? filtered(SYS_prctl, option, a, b, c, d, 0)
                                    : answer(raw(SYS_prctl, option, a, b, c, d, 0));
}

/* the function begins with a jump to another; its pages get back their rights.  No function of libc is called while
 * they are not executable: they may hold it. */
static void replace(void *function, const void *by)
{
    unsigned char *p = function, jump[14] = { 0xff, 0x25, 0, 0, 0, 0 };
    static const unsigned char marked[] = { 0xf3, 0x0f, 0x1e, 0xfa };   /* endbr64 stays */
    if (!p) return;
    if (memcmp(p, marked, sizeof marked) == 0) p += sizeof marked;
    for (size_t i = 0; i < 8; i++) jump[6 + i] = (unsigned char)((uintptr_t)by >> 8 * i);
    uintptr_t page = (uintptr_t)p & -(uintptr_t)4096, end = ((uintptr_t)p + sizeof jump + 4095) & -(uintptr_t)4096;
    if (raw(SYS_mprotect, (long)page, (long)(end - page), PROT_READ | PROT_WRITE, 0, 0, 0) != 0) return;
    for (volatile size_t i = 0; i < sizeof jump; i++) ((volatile unsigned char *)p)[i] = jump[i];
    raw(SYS_mprotect, (long)page, (long)(end - page), PROT_READ | PROT_EXEC, 0, 0, 0);
}

void lock_watch(void)
{
    static bool watched;
    if (watched || !__libc_single_threaded) return;
    watched = true;
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!libc) return;
    replace(dlsym(libc, "prctl"), (const void *)(uintptr_t)stand_prctl);
    replace(dlsym(libc, "syscall"), (const void *)(uintptr_t)lock_any);
    dlclose(libc);
}
#else
void lock_watch(void) { }
#endif
