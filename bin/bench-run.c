/* bench-run - run commands in balanced random rounds and write one row per run
 *
 * Usage: bench-run --rounds=N [OPTION]... --label=A 'CMD' [--label=B 'CMD']...
 *
 * Each command is one argument, split into words as sh does, quotes included, but
 * run without a shell (see --shell).  In each round every command runs once; the
 * order is drawn so that each stands in each place and follows each other equally
 * often.  In blocks of the same command, or in any fixed order, a drift of the
 * machine looks like a difference.  Only one measurement runs at a time on a
 * machine.
 *
 * Columns out: label, round, position, phase (calibrate: an empty command;
 * warmup; aa: the first label against itself; measure), wall_seconds,
 * cpu_seconds, user_seconds, sys_seconds, max_rss_bytes, faults, switches,
 * exit, signal, status, cpu (number), load, steal_ticks, output_bytes,
 * output_hash, build (hash of the program), machine (see bench-machine),
 * benchmark, kind (real), stop (fixed or sequential), seed, base, and for each
 * --event its count n_NAME and n_NAME_source (perf, or none and why).
 *
 * status is ok, or exit, signal, output, output_limit, not_started: an error,
 * never a fast result; or timeout, cpu_limit: the times are lower bounds.
 * A niceness and a CPU set before (nice, taskset) hold for the commands.
 * Rows appear as they are measured.  With -o a killed run goes on when the
 * same command is given again.  --until may look after every round: it uses a
 * confidence sequence, and bench-compare knows.  Exit 1 when a run went wrong.
 *
 * Examples:
 *   $ bench-run --rounds=20 --label=old './a.out 9' --label=new './b.out 9'
 *   $ bench-run --rounds=500 --until=decided --aa -o r.csv --label=a 'x' \
 *       --label=b 'y'
 */
#include "base/filter.h"
#include "base/num.h"
#include HELP
#include "measure/bench.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct list labels, events;
static long rounds = 20, seed = 1, expect_exit;
static double timeout, cpu_limit, max_time, margin = 0.01, confidence = 0.95;
static uint64_t memory_limit, output_limit = 1 << 30;
static bool aa, shell;
static const char *output = "-", *until, *warmup = "auto", *benchmark = "", *input,
                  *directory, *prepare, *error;
static enum output_rule rule = OUTPUT_SAME;
static enum { CPU, WALL } metric = CPU;
static const struct opt options[] = {
    { 'l', "label", LIST, &labels, "NAME", "name of the next command; the first is the base" },
    { 'n', "rounds", INT, &rounds, "N", "rounds, or the most of them with --until", 1, 1e6 },
    { 's', "seed", INT, &seed, "N", "of the orders" },
    { 'o', "out", STR, &output, "FILE", "append to this table and resume it" },
    { 0, "until", STR, &until, "WHAT", "stop early: decided, or a half-width such as 0.005" },
    { 0, "max-time", NUM, &max_time, "S", "begin no round after so many seconds", 0, 1e9 },
    { 0, "margin", NUM, &margin, "X", "for decided: equal means within this ratio", 0, 1 },
    { 0, "metric", WORD, &metric, "cpu|wall", "what --until and --warmup look at" },
    { 0, "aa", FLAG, &aa, NULL, "first measure the base against itself, the noise floor; at most half of --max-time" },
    { 0, "warmup", STR, &warmup, "N", "warm-up rounds; auto: while times still fall" },
    { 0, "output-rule", WORD, &rule, "same|own|any", "output demanded: as the base's first, as its own first" },
    { 0, "exit", INT, &expect_exit, "N", "exit status demanded", 0, 255 },
    { 0, "timeout", NUM, &timeout, "S", "wall seconds per run; then it is killed, a censored time", 0, 1e9 },
    { 0, "cpu-limit", NUM, &cpu_limit, "S", "CPU seconds per process, whole ones", 0, 1e9 },
    { 0, "memory-limit", SIZE, &memory_limit, "BYTES", "address space per process" },
    { 0, "output-limit", SIZE, &output_limit, "BYTES", "largest file written, output included" },
    { 'e', "event", LIST, &events, "NAME", "count this event (libpfm4 name)" },
    { 0, "input", STR, &input, "FILE", "standard input of the commands" },
    { 0, "stderr", STR, &error, "FILE", "append their standard error to it; -: ours" },
    { 'C', "directory", STR, &directory, "DIR", "where they run" },
    { 0, "prepare", STR, &prepare, "CMD", "run before each, not timed" },
    { 0, "shell", FLAG, &shell, NULL, "run commands by sh -c; its time counts" },
    { 0, "benchmark", STR, &benchmark, "NAME", "column benchmark, for tables of many programs" },
    { 0 } };

static void add_events(struct bench *b)
{
    b->event = xcalloc((size_t)events.n + 1, sizeof *b->event);
    for (int i = 0; i < events.n; i++) {
        const char *why = event_find(&b->event[b->events++], events.v[i]);
        if (why) usage("--event: '%s': %s", events.v[i], why);
        if (!b->event[i].counted && !quiet)
            warn("event '%s': %s, the column stays empty", events.v[i], b->event[i].source);
    }
}

static void set_stopping(struct bench *b)
{
    int64_t n;
    if (until && strcmp(until, "decided") == 0) b->decide = true;
    else if (until && !(num_parse(until, strlen(until), &b->half_width) && b->half_width > 0))
        usage("--until: '%s' is neither 'decided' nor a positive number", until);
    b->warmup = -1;
    if (strcmp(warmup, "auto") == 0) return;
    if (!int_parse(warmup, strlen(warmup), &n) || n < 0) usage("--warmup: '%s' is neither 'auto' nor a count", warmup);
    b->warmup = (long)n;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (input && access(input, R_OK) != 0) die_errno("%s", input);
    if (directory && access(directory, X_OK) != 0) die_errno("%s", directory);
    static struct bench b;
    b = (struct bench){ .rounds = rounds,
                       .seed = (uint64_t)seed,
                       .aa = aa,
                       .margin = margin,
                       .confidence = confidence,
                       .max_seconds = max_time,
                       .by_wall = metric == WALL,
                       .expect_exit = (int)expect_exit,
                       .benchmark = benchmark,
                       .execute = child_run };
    b.output = rule;
    b.child = (struct child){ .directory = directory,
                              .input = input,
                              .error = error,
                              .limits = { timeout, cpu_limit, memory_limit, output_limit } };
    set_stopping(&b);
    bench_subjects(&b, &labels, argv + i, (size_t)(argc - i), shell);
    add_events(&b);
    if (prepare) b.prepare = bench_words(prepare, shell);
    int status = bench_to(&b, output);
    if (!quiet && b.warmup_rounds)
        warn("%zu warm-up rounds kept apart; the first was %.3f times the steady time", b.warmup_rounds,
             b.first_over_last);
    if (!quiet && until) warn("stopped after %ld rounds (%s)", b.rounds_run, b.stopped);
    if (b.errors) warn("%zu runs went wrong, see column status", b.errors);
    return b.errors ? EXIT_FAIL : status;
}
