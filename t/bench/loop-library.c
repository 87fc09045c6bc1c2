/* loop-library.c - libmillrace-loop as a program uses it, for loop-library.sh:
 *   lookup           nanoseconds of a look-up by a prepared key and by text, beside libxsmm's dispatch where it is
 *   cold             milliseconds of CPU time for the first kernel of each problem on standard input
 *   threads          8 threads that look up, make, tune and fail, 20 000 calls together: kB and descriptors more */
#include "millrace_loop.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef XSMM
#include <libxsmm.h>
#endif

static double now(clockid_t c)
{
    struct timespec t;
    clock_gettime(c, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum { TIMES = 1000000, ROUNDS = 9 };
static millrace_problem *key;
static void *volatile sink;
static void by_key(void) { sink = (void *)millrace_loop_get(key); }
static void by_text(void) { sink = (void *)millrace_loop("(mm 64 48 32)", NULL, 0); }
#ifdef XSMM
static void xsmm(void) { sink = (void *)libxsmm_smmdispatch(48, 64, 32, NULL, NULL, NULL, NULL, NULL, NULL, NULL); }
static void xsmm_any(void)                               /* no longer the one it gave last */
{
    static int n;
    n = n % 16 + 1;
    sink = (void *)libxsmm_smmdispatch(48, 64, 16 + n, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}
static void text_any(void)
{
    static const char *const text[] = {
        "(mm 64 48 17)", "(mm 64 48 18)", "(mm 64 48 19)", "(mm 64 48 20)", "(mm 64 48 21)", "(mm 64 48 22)",
        "(mm 64 48 23)", "(mm 64 48 24)", "(mm 64 48 25)", "(mm 64 48 26)", "(mm 64 48 27)", "(mm 64 48 28)",
        "(mm 64 48 29)", "(mm 64 48 30)", "(mm 64 48 31)", "(mm 64 48 32)" };
    static int n;
    n = (n + 1) % 16;
    sink = (void *)millrace_loop(text[n], NULL, 0);
}
#endif

static double each(void (*f)(void))                      /* the least of some rounds */
{
    double least = 1e30;
    f();
    for (int r = 0; r < ROUNDS; r++) {
        const double t = now(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 0; i < TIMES; i++) f();
        const double d = (now(CLOCK_THREAD_CPUTIME_ID) - t) / TIMES;
        if (d < least) least = d;
    }
    return least;
}

static int lookup(void)
{
    static const struct { const char *name; void (*f)(void); } way[] = {
        { "key", by_key }, { "text", by_text },
#ifdef XSMM
        { "libxsmm", xsmm }, { "text_of_16", text_any }, { "libxsmm_of_16", xsmm_any },
#endif
    };
    key = millrace_loop_prepare("(mm 64 48 32)");
    puts("way,nanoseconds");
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) printf("%s,%.2f\n", way[i].name, each(way[i].f));
    return 0;
}

static int cold(void)
{
    char line[1024];
    double most = 0;
    millrace_loop_get(millrace_loop_prepare("(mm 5 6 7)"));
    puts("problem,milliseconds");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        const double t = now(CLOCK_PROCESS_CPUTIME_ID);
        millrace_problem *p = millrace_loop_prepare(line);
        if (!p || !millrace_loop_get(p)) return printf("%s: %s\n", line, millrace_loop_error()), 1;
        const double ms = (now(CLOCK_PROCESS_CPUTIME_ID) - t) / 1e6;
        printf("%s,%.2f\n", line, ms);
        if (ms > most) most = ms;
    }
    printf("most,%.2f\n", most);
    return 0;
}

enum { THREADS = 8, CALLS = 20000 };
static int round_now;                                    /* what is tuned has code twice: in the first round alone */
static void *caller(void *p)
{
    const long me = (long)p;
    unsigned draw = (unsigned)me * 7919 + 1;
    float *x[4];
    long bad = 0;
    for (int i = 0; i < 4; i++) x[i] = calloc(64 * 64, sizeof *x[i]);
    for (int i = 0; i < CALLS / THREADS; i++) {
        char text[80];
        draw = draw * 1664525 + 1013904223;
        const int m = 1 + (int)(draw >> 24) % 6, n = 8 * (1 + (int)(draw >> 16) % 4), k = 1 + (int)(draw >> 8) % 5;
        snprintf(text, sizeof text, "(mm %d %d %d)", m, n, k);
        millrace_problem *q = millrace_loop_prepare(text);
        millrace_call *f = q ? millrace_loop_get(q) : NULL;
        if (!f) return bad++, (void *)bad;
        for (int j = 0; j < m * k; j++) x[1][j] = 1;
        for (int j = 0; j < k * n; j++) x[2][j] = 2;
        f(x[0], x[1], x[2], NULL, NULL);
        for (int j = 0; j < m * n; j++) bad += x[0][j] != (float)(2 * k);
        bad += i % 16 == 0 && (millrace_loop("(mm 1 2", NULL, 0) || !*millrace_loop_error());
        if (me == 0 && i % 250 == 0 && !round_now) bad += millrace_loop_tune(q, NULL, 2) != 0;
    }
    for (int i = 0; i < 4; i++) free(x[i]);
    return (void *)bad;
}

static long kept(void)
{
    long all = 0, here = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &here) != 2) exit(2);
    fclose(f);
    return here * 4;
}

static int threads(void)
{
    puts("round,bad,kB,descriptor");
    for (int round = 0; round < 3; round++) {            /* the first one makes them all */
        pthread_t t[THREADS];
        long bad = 0;
        round_now = round;
        for (long i = 0; i < THREADS; i++)
            if (pthread_create(&t[i], NULL, caller, (void *)i)) return 2;
        for (int i = 0; i < THREADS; i++) {
            void *b;
            pthread_join(t[i], &b);
            bad += (long)b;
        }
        millrace_loop_wait();
        const int fd = dup(0);
        close(fd);
        printf("%d,%ld,%ld,%d\n", round, bad, kept(), fd);
        if (bad) return 1;
    }
    return 0;
}

int main(int n, char **v)
{
    if (n == 2 && !strcmp(v[1], "lookup")) return lookup();
    if (n == 2 && !strcmp(v[1], "cold")) return cold();
    return n == 2 && !strcmp(v[1], "threads") ? threads() : 2;
}
