/* running one command: what it cost, how it ended, and that nothing of it stays */
#include "measure/child.h"
#include "measure/clock.h"
#include "measure/jobs.h"
#include "table/csvio.h"
#include "tap.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ran sh(const char *script, struct limits limits)
{
    char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, strdup(script), NULL };
    struct child c = { .argv = argv, .keep_output = true, .limits = limits };
    struct ran r = child_run(&c);
    free(argv[2]);
    return r;
}

static int64_t ticking(void)
{
    static int64_t now;
    return now += 1500000000;
}

static void test_ends(void)
{
    struct limits none = { 0 };
    struct ran r = sh("echo hello", none);
    ok(r.how == RAN_EXIT && r.code == 0 && r.signal == 0 && strcmp(ran_word(&r), "ok") == 0, "a good end");
    ok(r.output_bytes == 6 && r.output_hash == hash_bytes("hello\n", 6, 0) && strcmp(r.output.s, "hello\n") == 0,
       "output, its size and its hash");
    free(r.output.s);
    r = sh("exit 3", none);
    ok(r.how == RAN_EXIT && r.code == 3 && strcmp(ran_word(&r), "exit") == 0, "exit status 3");
    ok(r.output_bytes == 0 && r.output_hash == 0, "no output, hash 0");
    r = sh("kill -9 $$", none);
    ok(r.how == RAN_SIGNAL && r.signal == SIGKILL && r.code == -1, "killed by a signal");
    char *argv[] = { (char[]){ "/nonexistent/program" }, NULL };
    r = child_run(&(struct child){ .argv = argv });
    ok(r.how == RAN_NOT_STARTED && r.error != 0, "a program that is not there");
    char *here[] = { (char[]){ "true" }, NULL };
    r = child_run(&(struct child){ .argv = here, .directory = "/nonexistent" });
    ok(r.how == RAN_NOT_STARTED, "a directory that is not there");
    r = child_run(&(struct child){ .argv = here, .input = "no/such/file" });
    ok(r.how == RAN_NOT_STARTED && r.error == ENOENT, "an input that is not there: it does not read ours");
    r = child_run(&(struct child){ .argv = here, .error = "no/such/folder/said" });
    ok(r.how == RAN_NOT_STARTED && r.error == ENOENT, "nor is what it says lost");
}

/* gone, or a zombie that nobody has collected yet */
static bool is_dead(pid_t pid)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    if (!f) return true;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
    fclose(f);
    return state == 'Z' || state == 'X';
}

static void test_limits(void)
{
    struct ran r = sh("sleep 100", (struct limits){ .wall_seconds = 0.05 });
    ok(r.how == RAN_TIMEOUT && r.wall_seconds >= 0.05, "a timeout: the time is a lower bound");
    r = sh("sleep 100 & echo $!", (struct limits){ .wall_seconds = 50 });
    ok(r.how == RAN_EXIT && r.code == 0, "what it left in the background does not hold us up");
    pid_t left = r.output.s ? (pid_t)strtol(r.output.s, NULL, 10) : 0;
    for (int i = 0; i < 5000 && left > 0 && !is_dead(left); i++) usleep(1000);
    ok(left > 0 && is_dead(left), "and is killed");
    free(r.output.s);
    r = sh("while :; do :; done", (struct limits){ .cpu_seconds = 1, .wall_seconds = 500 });
    ok(r.how == RAN_CPU_LIMIT, "a CPU limit");
    if (r.how != RAN_CPU_LIMIT) printf("# %s, signal %d, %g s\n", ran_word(&r), r.signal, r.cpu_seconds);
    r = sh("head -c 100000 /dev/zero", (struct limits){ .output_bytes = 4096 });
    ok(r.how == RAN_OUTPUT_LIMIT || (r.how == RAN_EXIT && r.code != 0), "an output limit");
    ok(r.output_bytes <= 4096, "holds the output down");
    free(r.output.s);
    r = sh("head -c 300000000 /dev/zero | tail -c 300000000 | wc -c", (struct limits){ .memory_bytes = 100 << 20 });
    ok(!r.output.s || strcmp(r.output.s, "300000000\n") != 0, "a memory limit");
    free(r.output.s);
}

static void test_costs(void)
{
    struct ran r = sh("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", (struct limits){ 0 });
    ok(r.cpu_seconds > 0 && fabs(r.cpu_seconds - r.user_seconds - r.system_seconds) < 1e-9,
       "CPU time is user plus system time");
    ok(r.minor_faults > 0 && r.cpu >= 0, "faults, and the CPU it ran on");
    r = sh("head -c 50000000 /dev/zero | tail -c 50000000 | tail -c 1", (struct limits){ 0 });
    ok(r.rss_bytes > 40e6, "the peak of the largest process");
    free(r.output.s);
    clock_fake(ticking);
    r = sh("exit 0", (struct limits){ 0 });
    clock_fake(NULL);
    near(r.wall_seconds, 1.5, 1e-12, "by a fake clock, the wall time is the difference of two readings");
}

static bool splits(const char *command, const char *const *want)
{
    const char *why;
    char **got = shell_words(command, &why);
    size_t i = 0;
    bool good = got != NULL;
    for (; good && want[i]; i++) good = got[i] && strcmp(got[i], want[i]) == 0;
    good = good && !got[i];
    shell_words_free(got);
    return good;
}

static bool refused(const char *command)
{
    const char *why;
    char **got = shell_words(command, &why);
    bool good = !got && why;
    shell_words_free(got);
    return good;
}

static void test_words(void)
{
    ok(splits(" ./a.out  9 ", (const char *const[]){ "./a.out", "9", NULL }), "words");
    ok(splits("a 'b c' \"d $\\\"\" e\\ f ''", (const char *const[]){ "a", "b c", "d $\"", "e f", "", NULL }) ||
           splits("a 'b c' \"d \\\"\" e\\ f ''", (const char *const[]){ "a", "b c", "d \"", "e f", "", NULL }),
       "quotes and backslashes");
    ok(splits("a'b'\"c\"d '$x|*'", (const char *const[]){ "abcd", "$x|*", NULL }), "a quote in a word");
    ok(refused("") && refused("a | b") && refused("a > b") && refused("a $HOME") && refused("a *.c") &&
           refused("~/a") && refused("a 'b") && refused("a; b") && refused("\"`a`\""),
       "what needs a shell is refused with a reason");
    bool same = true;
    static const char *const odd[] = { "plain", "", "a b", "it's", "$x `y` \\z", "\"", "*?[", "a\nb", "~" };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct buf b = { 0 };
        shell_quote(&b, odd[i]);
        same &= splits(b.s, (const char *const[]){ odd[i], NULL });
        free(b.s);
    }
    ok(same, "quoted words split to themselves");
}

/* a line whose sum is right, of a job with that name */
static bool answers(const char *job)
{
    char path[] = "/tmp/lib-child.XXXXXX", line[512] = "";
    close(mkstemp(path));
    csvw *w = csvw_open(path);
    answer_write(w, &(struct answer){ str_of(job), str_of("ok"), str_of("m"), str_of("out"), 7, 0.5 });
    csvw_close(w);
    FILE *f = fopen(path, "r");
    bool there = fgets(line, sizeof line, f) != NULL;
    fclose(f);
    unlink(path);
    line[strcspn(line, "\n")] = 0;
    struct answer a;
    struct buf scratch = { 0 };
    bool good = there && answer_parse(str_of(line), &a, &scratch);
    free(scratch.s);
    return good;
}

int main(void)
{
    ok(answers("a.b-1") && !answers("a b") && !answers(""), "an answer is to a job with a name");
    test_ends();
    test_limits();
    test_costs();
    test_words();
    return done();
}
