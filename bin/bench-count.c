/* bench-count - count what commands cost, exactly and without noise
 *
 * Usage: bench-count [--metric=NAME]... [--label=A] 'CMD' [--label=B 'CMD']...
 *        bench-count --metric=size FILE...
 *
 * Metrics: instructions (qemu-user and a plugin, 2 to 12 times slower than
 * the command; where qemu has no plugins, as in Debian 13, callgrind, 60
 * times), cycles (modelled by cachegrind; 30 times), events (what the cycles
 * are made of: data_reads, data_writes, fetch_misses, read_misses,
 * write_misses, last_misses, branches, indirect_branches, mispredictions), size
 * (code_bytes and text_bytes of the program's ELF file; an operand may be any
 * ELF file), allocations (a preloaded counter; allocations and allocated_bytes).
 * Only the process that is started counts, not those it starts.  It runs in
 * an environment that is always the same, PATH, HOME, LC_ALL, TZ, TMPDIR and
 * what --env names, so that a count is the same for every user and machine
 * with the same libraries: to find them the loader needs some hundred
 * instructions more or less, by how many others are installed.
 *
 * Each count is taken --runs times.  Columns out: label, metric, value, exact
 * (yes: all runs agree, no: value is the least of them; empty: there was one run
 * and nothing was compared), runs, backend (what
 * counted), status (ok, or why there is no value), output_hash.
 * Order: labels, then metrics.  Exit 1 when a value is missing.
 *
 * Examples:
 *   $ bench-count --label=old './a.out 9' --label=new './b.out 9'
 */
#include "base/filter.h"
#include HELP
#include "measure/count.h"
#include "table/csvio.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct list labels, metrics, kept;
static long runs = 2, expect_exit = -1;
static double timeout = 600;
static const char *input, *directory;
static const struct opt options[] = {
    { 0, "metric", LIST, &metrics, "NAME", "instructions, cycles, events, size, allocations" },
    { 'l', "label", LIST, &labels, "NAME", "name of the next command; default: the command" },
    { 'n', "runs", INT, &runs, "N", "runs that must agree", 1, 1000 },
    { 0, "exit", INT, &expect_exit, "N", "exit status demanded, -1: any", -1, 255 },
    { 0, "timeout", NUM, &timeout, "S", "wall seconds per run", 0, 1e9 },
    { 0, "input", STR, &input, "FILE", "standard input of the commands" },
    { 0, "env", LIST, &kept, "NAME", "a variable of the environment to keep" },
    { 'C', "directory", STR, &directory, "DIR", "where they run" },
    { 0 } };

static size_t missing;

static struct counts count_once(const char *metric, const struct child *c)
{
    if (strcmp(metric, "instructions") == 0) return count_blocks(c, NULL);
    if (strcmp(metric, "cycles") == 0) return count_cycles(c);
    if (strcmp(metric, "events") == 0) return count_events(c);
    if (strcmp(metric, "allocations") == 0) return count_allocations(c);
    if (strcmp(metric, "size") != 0)
        usage("--metric: '%s' is not one of instructions, cycles, events, size, allocations", metric);
    char *path = program_in(directory, c->argv[0]);
    if (!path && directory && *c->argv[0] != '/') path = xformat("%s/%s", directory, c->argv[0]);
    struct counts r = count_size(path ? path : c->argv[0]);
    free(path);
    return r;
}

static long inexact;                                     /* rows; the widest of them, and by how much of its least */
static const char *widest;
static double widest_by = -1;

static void write_metric(csvw *w, const char *label, const char *metric, const struct child *c)
{
    struct counts first = count_once(metric, c);
    if (expect_exit >= 0 && !first.why && strcmp(metric, "size") != 0 && first.ran.code != expect_exit)
        first.why = xformat("exit status %d, not %ld", first.ran.code, expect_exit);
    struct counts least = first, most = first;
    bool exact[COUNT_METRICS];
    for (int m = 0; m < COUNT_METRICS; m++) exact[m] = true;
    for (long i = 1; i < runs && !first.why; i++) {
        struct counts again = count_once(metric, c);
        if (again.why) first.why = again.why;
        for (int m = 0; m < COUNT_METRICS; m++) {
            if (isnan(first.value[m])) continue;
            exact[m] &= again.value[m] == first.value[m];
            least.value[m] = fmin(least.value[m], again.value[m]);
            most.value[m] = fmax(most.value[m], again.value[m]);
        }
    }
    bool wrote = false;
    for (int m = 0; m < COUNT_METRICS; m++) {
        if (first.why ? wrote : isnan(first.value[m])) continue;
        csvw_cstr(w, label);
        csvw_cstr(w, first.why ? metric : count_name[m]);
        csvw_known(w, first.why ? NAN : least.value[m]);
        csvw_cstr(w, first.why || runs == 1 ? "" : exact[m] ? "yes" : "no");
        csvw_int(w, runs);
        csvw_cstr(w, first.backend);
        csvw_cstr(w, first.why ? first.why : "ok");
        csvw_format(w, "%016llx", (unsigned long long)first.ran.output_hash);
        csvw_end(w);
        wrote = true;
        if (exact[m]) continue;
        double by = least.value[m] > 0 ? most.value[m] / least.value[m] - 1 : INFINITY;
        if (by > widest_by) widest_by = by, widest = label;
        inexact++;
    }
    missing += first.why != NULL;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = { "instructions", "size", "allocations" };
    int i = filter_init(argc, argv, help, options);
    int n = argc - i;
    if (!n) usage("no command given");
    if (labels.n && labels.n != n) usage("%d labels but %d commands", labels.n, n);
    if (input && access(input, R_OK) != 0) die_errno("%s", input);
    if (directory && access(directory, X_OK) != 0) die_errno("%s", directory);
    if (!metrics.n) metrics = (struct list){ xmalloc(3, sizeof *metrics.v), 3 }, memcpy(metrics.v, usual, sizeof usual);
    csvw *w = csvw_fd(1);
    csvw_names(w, "label,metric,value,exact,runs,backend,status,output_hash");
    csvw_end(w);
    char **env = count_environment(kept.v, kept.n);
    for (int k = 0; k < n; k++) {
        const char *why;
        char **words = shell_words(argv[i + k], &why);
        if (!words) usage("command '%s': %s", argv[i + k], why);
        struct child c = { .env = env,
            .argv = words, .directory = directory, .input = input, .limits = { .wall_seconds = timeout }
        };
        for (int m = 0; m < metrics.n; m++) write_metric(w, labels.n ? labels.v[k] : argv[i + k], metrics.v[m], &c);
        shell_words_free(words);
    }
    if (inexact && !quiet)
        warn("%ld count%s between runs, most that of '%s', by %.2g %%: not exact", inexact, inexact > 1 ? "s differ" :
            " differs", widest, 100 * widest_by);
    int status = csvw_close(w);
    return missing ? EXIT_FAIL : status;
}
