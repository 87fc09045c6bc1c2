/* the measuring loop with made-up commands: no time is measured here */
#include "base/mem.h"
#include "base/rng.h"
#include "measure/bench.h"
#include "measure/clock.h"
#include "measure/runs.h"
#include "measure/stats.h"
#include "tap.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rng g;
static int calls, fail_after = -1, cold_rounds;
static double effect;
static bool wrong_output, crash, slow;
static int64_t fake_now;

static int64_t fake_clock(void)
{
    return fake_now;
}

/* argv[0] is "a" or "b": b costs exp(effect) times as much; the first runs are slower by a quarter */
static struct ran pretend(const struct child *c)
{
    bool b = strcmp(c->argv[0], "b") == 0;
    struct ran r = { .how = RAN_EXIT, .cpu = 0, .output_bytes = 5, .output_hash = 77, .rss_bytes = NAN };
    double cold = calls < 2 * cold_rounds ? 1.25 : 1;
    r.cpu_seconds = r.user_seconds = 0.01 * cold * exp((b ? effect : 0) + 0.01 * rng_normal(&g));
    r.wall_seconds = 1.2 * r.cpu_seconds;
    if (b && wrong_output) r.output_hash = 78;
    if (b && crash) r.how = RAN_SIGNAL, r.signal = 11, r.code = -1;
    if (b && slow) r.how = RAN_TIMEOUT, r.signal = 9, r.code = -1;
    fake_now += (int64_t)(r.wall_seconds * 1e9);
    calls++;
    if (fail_after >= 0 && calls > fail_after) r.how = RAN_SIGNAL, r.signal = 2;
    return r;
}

static const char table[] = "lib-bench.csv";

static struct bench two(long rounds)
{
    static char a[] = "a", b[] = "b";
    static char *const argv[2][2] = { { a, NULL }, { b, NULL } };
    struct bench s = {
        .n = 2, .rounds = rounds, .seed = 3, .margin = 0.01, .confidence = 0.95, .execute = pretend, .benchmark = ""
    };
    s.subject = xcalloc(2, sizeof *s.subject);
    for (int i = 0; i < 2; i++) s.subject[i].label = i ? "b" : "a", s.subject[i].argv = (char **)(uintptr_t)argv[i];
    snprintf(s.machine.fingerprint, sizeof s.machine.fingerprint, "m");
    return s;
}

static void start(struct bench *b)
{
    char *names = bench_columns(b);
    calls = 0;
    b->out = csvw_append(table, names);
    bench_resume(b, table);
    bench_run(b);
    csvw_close(b->out);
    free(names);
    free(b->d);
    free(b->done);
    free(b->aa_done);
    free(b->subject);
}

static struct runs *read_table(void)
{
    char *paths[] = { (char *)(uintptr_t)table, NULL };
    return runs_read(paths, &(struct runs_options){ .metric = "cpu" });
}

static void test_rounds(void)
{
    unlink(table);
    struct bench b = two(40);
    start(&b);
    struct runs *r = read_table();
    int first = 0;
    for (size_t i = 0; i < r->main[0].rounds; i++) first += r->run[r->main[0].cell[2 * i] - 1].position == 0;
    ok(r->main[0].rounds == 40 && first == 20 && b.errors == 0, "40 rounds, either label first in half of them");
    ok(b.warmup_rounds == 0 && strcmp(b.stopped, "rounds") == 0, "no warm-up was asked for");
    runs_free(r);
    int before = calls;
    struct bench again = two(40);
    start(&again);
    ok(calls == 0 && before > 0, "started again on its complete table, it runs nothing");
}

static void test_resume(void)
{
    unlink(table);
    struct bench b = two(20);
    start(&b);
    if (truncate(table, 3000) != 0) perror(table);       /* in the middle of a row, of a round */
    struct bench again = two(20);
    start(&again);
    struct runs *r = read_table();
    ok(r->main[0].rounds == 20 && calls > 0, "a table cut in the middle of a row is completed");
    struct bench straight = two(20);
    unlink(table);
    start(&straight);
    struct runs *s = read_table();
    bool same = true;
    for (size_t i = 0; i < 40; i++)
        same &= r->run[r->main[0].cell[i] - 1].position == s->run[s->main[0].cell[i] - 1].position;
    ok(same, "in the orders of an unbroken run");
    runs_free(r);
    runs_free(s);
}

static void test_warmup(void)
{
    unlink(table);
    struct bench b = two(10);
    b.warmup = -1;
    cold_rounds = 4;                                     /* the empty commands come first: 5 calls */
    start(&b);
    cold_rounds = 0;
    ok(b.warmup_rounds >= 2 && b.warmup_rounds <= 6, "warm-up ends when times no longer fall");
    ok(b.first_over_last > 1.1, "and says how slow the start was");
    struct runs *r = read_table();
    ok(r->warmups == 2 * b.warmup_rounds + 5 && r->main[0].rounds == 10, "its runs are kept apart");
    runs_free(r);
}

static void test_stopping(void)
{
    unlink(table);
    struct bench b = two(1000);
    b.decide = true;
    effect = 0.02;
    start(&b);
    ok(strcmp(b.stopped, "decided") == 0 && b.rounds_run < 100,
       "a difference of two deviations is decided in less than 100 of 1000 rounds");
    printf("# %ld rounds\n", b.rounds_run);
    struct runs *r = read_table();
    ok(r->sequential, "the table says that its length was chosen while looking");
    runs_free(r);
    unlink(table);
    effect = 0;
    struct bench w = two(1000);
    w.half_width = 0.003;
    start(&w);
    ok(strcmp(w.stopped, "width") == 0 && w.rounds_run < 1000, "or when the ratio is known well enough");
    unlink(table);
    struct bench t = two(1000);
    t.max_seconds = 1;
    clock_fake(fake_clock);
    start(&t);
    clock_fake(NULL);
    ok(strcmp(t.stopped, "time") == 0 && t.rounds_run >= 35 && t.rounds_run <= 45,
       "or when a second has passed, by a fake clock");
    unlink(table);
    struct bench a = two(30);
    a.aa = true;
    start(&a);
    r = read_table();
    ok(r->aa[0].rounds == 30 && r->main[0].rounds == 30, "the noise floor is measured first and kept apart");
    runs_free(r);
}

static void test_errors(void)
{
    unlink(table);
    struct bench b = two(5);
    wrong_output = true;
    start(&b);
    wrong_output = false;
    struct runs *r = read_table();
    struct pairs p = runs_pairs(r, &r->main[0], (size_t)runs_label(r, "a"), (size_t)runs_label(r, "b"));
    ok(b.errors == 5 && p.errors == 5 && p.n == 0 && strcmp(runs_status(r, p.first_error), "output") == 0,
       "another output is an error, not a time");
    pairs_free(&p);
    runs_free(r);
    unlink(table);
    struct bench own = two(5);
    own.output = OUTPUT_OWN;
    wrong_output = true;
    start(&own);
    wrong_output = false;
    ok(own.errors == 0, "unless each label may have its own");
    unlink(table);
    struct bench c = two(5);
    crash = true;
    start(&c);
    crash = false;
    ok(c.errors == 5, "a crash is an error");
    unlink(table);
    struct bench s = two(12);
    slow = true;
    start(&s);
    slow = false;
    r = read_table();
    p = runs_pairs(r, &r->main[0], (size_t)runs_label(r, "a"), (size_t)runs_label(r, "b"));
    struct paired q = paired_compare(p.d, p.lower, p.upper, p.n, 0.95, false);
    ok(s.errors == 0 && p.censored == 12 && isfinite(q.log_ratio.lower) && isinf(q.log_ratio.upper),
       "a timeout is a lower bound: at least so much slower");
    pairs_free(&p);
    runs_free(r);
    unlink(table);
}

/* a process that was forked meanwhile keeps nobody waiting */
static void test_lock(void)
{
    setenv("MILLRACE_MEASURE_LOCK", "./lock", 1);
    measure_lock();
    pid_t child[2];
    for (int i = 0; i < 2; i++) {
        child[i] = fork();
        if (child[i] > 0) continue;
        if (i == 0) measure_unlock();                    /* nor does it give away what is its parent's */
        else pause();
        _exit(0);
    }
    waitpid(child[0], NULL, 0);
    const int fd = open("lock", O_RDONLY);
    const bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
    measure_unlock();
    ok(held && flock(fd, LOCK_EX | LOCK_NB) == 0, "a lock that was given back is free, whoever was forked under it");
    kill(child[1], SIGKILL);
    waitpid(child[1], NULL, 0);
    close(fd);
    unlink("lock");
    unsetenv("MILLRACE_MEASURE_LOCK");
}

int main(void)
{
    char dir[] = "/tmp/lib-bench.XXXXXX";
    if (!mkdtemp(dir) || chdir(dir) != 0) return 99;
    g = rng_for(5, str_of("lib-bench"));
    test_rounds();
    test_resume();
    test_warmup();
    test_stopping();
    test_errors();
    test_lock();
    if (chdir("/") != 0 || rmdir(dir) != 0) perror(dir);
    return done();
}
