#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
static volatile double s;
static volatile long hits;
static jmp_buf out;
static ucontext_t home, other;
static void on_alarm(int x) { (void)x; hits++; for (int i = 0; i < 50; i++) s += cbrt(i); }
static int jump(const void *a, const void *b) { (void)a; (void)b; longjmp(out, 1); }
static int leave(const void *a, const void *b) { (void)a; (void)b; pthread_exit(NULL); }
static int yield(const void *a, const void *b) { swapcontext(&other, &home); return *(const int *)a - *(const int *)b; }
static void *thread(void *a) { int v[4] = { 4, 3, 2, 1 }; qsort(v, 4, 4, leave); return a; }
static void coroutine(void) { int v[3] = { 3, 1, 2 }; qsort(v, 3, sizeof *v, yield); printf("%d %d %d\n", v[0], v[1], v[2]); }
static void *busy(void *a) { for (int i = 0; i < 100000; i++) s += cbrt(i); return a; }
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    for (int i = 0; i < 1000; i++) s += cbrt(i);
    if (!strcmp(what, "descriptors") || !strcmp(what, "daemon")) {
        pthread_t t;
        pthread_create(&t, NULL, busy, NULL);
        if (what[1] == 'a' && fork()) { pthread_join(t, NULL); return wait(NULL) < 0; }
        if (what[1] == 'a') { setsid(); close(0); close(1); close(2); }
        close_range(3, ~0u, 0);
        int f[4];
        char name[20];
        for (int i = 0; i < 4; i++) {
            snprintf(name, sizeof name, "user%d.dat", i);
            f[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
            if (write(f[i], "precious\n", 9) != 9) return 1;
        }
        for (int i = 0; i < 100000; i++) s += cbrt(i);
        if (what[1] != 'a') { pthread_join(t, NULL); printf("%d %d\n", f[0], f[3]); }
    } else if (!strcmp(what, "signals")) {
        struct itimerval t = { { 0, 1000 }, { 0, 1000 } };
        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &t, NULL);
        while (hits < 500) for (int i = 0; i < 100; i++) { s += cbrt(i); free(malloc(100)); }
        puts("500 signals");
    } else if (!strcmp(what, "coroutines")) {
        char *top = mmap(NULL, 5 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(top + (1 << 16), 1 << 16, PROT_READ | PROT_WRITE);   /* nothing to read above it */
        getcontext(&other);
        other.uc_stack.ss_sp = top + (1 << 16);
        other.uc_stack.ss_size = 1 << 16;
        other.uc_link = &home;
        makecontext(&other, coroutine, 0);
        for (int i = 0; i < 4; i++) { swapcontext(&home, &other); s += cbrt(i); }
    } else if (!strcmp(what, "jumps")) {
        volatile int n = 0;
        for (volatile int i = 0; i < 1000; i++) {
            int v[4] = { 4, 3, 2, 1 };
            if (!setjmp(out)) qsort(v, 4, 4, jump);
            else n++;
        }
        printf("%d jumps\n", n);
    } else if (!strcmp(what, "exits")) {
        for (int i = 0; i < 50; i++) {
            pthread_t t;
            pthread_create(&t, NULL, thread, NULL);
            pthread_join(t, NULL);
        }
        puts("50 threads");
    } else if (!strcmp(what, "vfork")) {
        for (int i = 0; i < 50; i++) {
            s += cbrt(i);
            pid_t p = vfork();
            if (!p) { execl("/bin/true", "true", (char *)NULL); _exit(127); }
            waitpid(p, NULL, 0);
        }
        puts("50 children");
    } else if (!strcmp(what, "exec")) {
        char n[8] = "0";
        int k = argc > 2 ? atoi(argv[2]) : 0;
        snprintf(n, sizeof n, "%d", k + 1);
        if (k < 5) execl(argv[0], argv[0], "exec", n, (char *)NULL);
        puts("five times");
    } else if (!strcmp(what, "arguments")) {
        char b[400];
        snprintf(b, sizeof b, "%d %d %d %d %d %d %d %d %d %d %g %g %g %g %g %g %g %g %g %g %d %d %d %d %d %d %d %d %d %d %Lg", 1, 2, 3, 4, 5,
                 6, 7, 8, 9, 10, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1., 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, sqrtl(2.0L));
        puts(b);
    } else if (!strcmp(what, "rights")) {                /* what was read-only is, and nothing is both writable and executable */
        char line[512];
        FILE *f = fopen("/proc/self/maps", "r");
        int both = 0, rows = 0;
        while (fgets(line, sizeof line, f)) both += strstr(line, "rwx") != NULL, rows += strstr(line, "/odd") && strstr(line, " r--p") != NULL;
        printf("%d %d\n", both, rows);
    }
    return s < 0;
}
