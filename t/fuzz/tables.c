/* tables.c - fuzz target: the readers of tables and of other tools' results that have no target of their own; the first
 * byte says which.  Whatever they read, they end the process properly or give what can be walked. */
#include "fuzz.h"
#include "base/mem.h"
#include "fit/data.h"
#include "fit/encode.h"
#include "fit/entries.h"
#include "decisions/best.h"
#include "flambda/counters.h"
#include "flambda/policies.h"
#include "flambda/results.h"
#include "flambda/rundir.h"
#include "inline/advise.h"
#include "inline/history.h"
#include "inline/parts.h"
#include "inline/program.h"
#include "inline/site_table.h"
#include "measure/sizes.h"
#include "inline/verdicts.h"
#include "inline/work.h"
#include "loop/nest/rows.h"
#include "loop/search/curve.h"
#include "loop/search/traces.h"
#include "measure/foreign.h"
#include "place/cost.h"
#include "place/figures.h"
#include "place/profile.h"
#include "place/result.h"
#include "place/wanted.h"
#include "prof/cells.h"
#include "prof/correct.h"
#include "table/table.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
extern const size_t fuzz_prefix;
const size_t fuzz_prefix = 1;

enum { HYPERFINE, GOOGLE, COUNTERS_OF, HISTORY, PARTS, PROGRAM, COST, KERNELS, CELLS, HOOKS,
       ENTRIES, EXAMPLES, TRACES, ROWS, RUNDIR, RESULTS, FIGURES, SIZES, BEST, CODES,
       POLICIES, RESULT_LINES, SITES, VERDICTS, CURVE, WANTED, CALLS, HEADER, READERS };
static const char *const reader[READERS] = { "hyperfine", "google", "counters", "history",
                                             "parts", "program", "cost", "kernels", "cells", "hooks", "entries",
                                             "examples", "traces", "rows", "rundir", "results", "figures", "sizes",
                                             "best", "codes", "policies", "result-lines", "sites", "verdicts",
                                             "curve", "wanted", "calls", "header" };
static const char calibration[] = "(calibration (cost (hook c_wrap) (mean_ns 50) (std_ns 6) (n 3))"
                                  " (cost (hook op) (mean_ns 51) (inside_ns 20)))";
static const char hooks[] = "proc,phase,op,cats,hook,before,begun\n1,,,Python,c_wrap,3,5\n1,,f,CPU,op,1,9\n";
static const char cells[] = "proc,phase,op,cats,total_ns\n1,,,Python,725399\n1,,f,CPU,22574\n1,,f,GPU+CPU,90\n";

static const char graph[] = "(graph (name g) (batch 1) (tensor 0 x arg 400 f32 (100))"
                            "(tensor 1 a inter 80000 f32 (20000)) (tensor 2 y arg 4 f32 ())"
                            "(node 0 p A (in 0) (out 1)) (node 1 q A (in 1) (out 2)))";

/* a folder with two sources, for what names files */
static const char *sources(void)
{
    static char dir[] = "/dev/shm/fuzz-sources-XXXXXX";
    static bool made;
    if (made) return dir;
    made = mkdtemp(dir) != NULL;
    for (char name = 'a'; made && name <= 'b'; name++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%c.c", dir, name);
        FILE *f = fopen(path, "w");
        if (f) fclose(f);
    }
    return dir;
}

/* a folder in which `path` has these names and there is nothing else, at the end of the folders `below` */
static const char *folder_of(int which, const char *below, const char *const *name, const char *const *path)
{
    static char made[4][64];
    char at[160];
    if (!made[which][0]) {
        snprintf(made[which], sizeof made[which], "/dev/shm/fuzz-folder-XXXXXX");
        fuzz_check(mkdtemp(made[which]) != NULL, "no folder");
        for (const char *p = below; *p; p += *p == '/') {
            p += strcspn(p, "/");
            snprintf(at, sizeof at, "%s/%.*s", made[which], (int)(p - below), below);
            fuzz_check(mkdir(at, 0777) == 0, "no folder in it");
        }
    }
    for (; *name; name++, path++) {
        snprintf(at, sizeof at, "%s/%s/%s", made[which], below, *name);
        unlink(at);
        fuzz_check(symlink(*path, at) == 0, "no link");
    }
    return made[which];
}

static const char *one_file(int which, const char *below, const char *name, const char *path)
{
    return folder_of(which, below, (const char *[]){ name, NULL }, (const char *[]){ path, NULL });
}

static void count_line(void *context, const struct result_line *l)
{
    size_t *n = context;
    for (size_t i = 0; !l->failed && i < l->n; i++, ++*n) fuzz_check(l->seconds[i] > 0, "no time at all");
}

static void policies_judge(char **timings, const char *counters, size_t n)
{
    const struct policies_options o = { .reference = "p", .drop = n % 2, .base = (enum policies_base)(n % 3) };
    struct policies p = policies_read(timings, counters, &o);
    if (p.benchmark.n > 100 || p.policy.n > 100) return;
    bool *in = xcalloc(p.benchmark.n + 1, sizeof *in), *single = xcalloc(p.policy.n + 1, sizeof *single);
    size_t picked[2];
    double mean[2];
    for (size_t b = 0; b < p.benchmark.n; b++) in[b] = true;
    for (size_t k = 0; k < p.policy.n; k++) single[k] = true;
    for (size_t b = 0; b < p.benchmark.n; b++)
        for (size_t k = 0; k < p.policy.n; k++) {
            struct saving v = policies_saving(&p, b, k, 0.95);
            fuzz_check(!(v.saved > 1), "more than all is saved");
            policies_missed(&p, b, k);
        }
    for (size_t k = 0; k < p.policy.n; k++) policies_summary(&p, k, in, 0.01);
    policies_greedy(&p, policies_regret(&p, single), single, in, 2, picked, mean);
    fuzz_check(policies_general(&p) < (long)p.policy.n, "a policy that is none");
}

static void cells_and_sums(struct cells *c, const char *of_hooks)
{
    struct sums in = { 0 }, out = { 0 };
    struct arena text = { 0 };
    for (size_t i = 0; i < c->n && i < 200; i++) {
        if (set_size(c->v[i].cats) > 6) return;          /* all subsets of a set are made */
        sums_add(&in, &(struct sum){ { c->v[i].op, c->v[i].cats }, c->v[i].total });
        sums_add(&out, &(struct sum){ { c->v[i].op, c->v[i].cats }, c->v[i].total });
    }
    sums_merge(&in);
    sums_inclusive(&in, 1, &text);
    sums_merge(&out);
    sums_exclusive(&out, 1);
    if (c->n > 200) return;
    struct removed total;
    correct_counted(c, fuzz_path(1, calibration, sizeof calibration - 1), of_hooks, &total);
    correct_placed(c);
}

static void body(const uint8_t *data, size_t n)
{
    const uint8_t *half = memchr(data + 1, '\f', n - 1);  /* where a reader takes two tables, the second */
    const uint8_t *end = half ? half : data + n;
    char *path = fuzz_path(7, data + 1, (size_t)(end - data) - 1);
    char *more = fuzz_path(6, half ? half + 1 : NULL, half ? n - (size_t)(half + 1 - data) : 0);
    char *paths[] = { path, NULL }, *others[] = { more, NULL };
    struct frame *f = frame_new();
    switch (data[0] % READERS) {
    case HYPERFINE: import_hyperfine(f, path); break;
    case GOOGLE: import_google(f, path); break;
    case COUNTERS_OF: {
        struct counters k = counters_read(paths);
        for (size_t b = 0; b < k.n; b++) counters_dedupe(&k.table[b], k.cols);
        break;
    }
    case HISTORY: {
        struct history h = { 0 };
        history_read(&h, paths);
        for (size_t i = 0; i < h.n; i++) fuzz_check(history_find(&h, h.v[i].decisions) != NULL, "a set is not found");
        break;
    }
    case PARTS: {
        struct parts p = { 0 };
        if (parts_read(&p, path))
            for (size_t i = 0; i < p.name.n; i++)
                fuzz_check(parts_find(&p, p.name.name[i]) != NULL, "a part is not found");
        break;
    }
    case PROGRAM: {
        if (memchr(data, '/', n)) return;                /* not to look all over the machine */
        struct program *p = program_of_table(path, "p", sources(), NULL, 0, NULL);
        fuzz_check(p->nunits > 0 && p->nsearch > 0, "a program of nothing");
        for (size_t i = 0; i < p->nunits; i++) fuzz_check(strlen(p->unit[i].source) > 0, "a source without a name");
        for (size_t i = 0; i < p->nsearch; i++) fuzz_check(!p->search_run[i].argv[p->search_run[i].argc], "no end");
        break;
    }
    case RUNDIR: {
        csvw *w = csvw_open("/dev/null");
        rundir_import(one_file(0, "opt_data/0/0", "execution_stats.sexp", path), "x", w);
        csvw_close(w);
        break;
    }
    case COST: cost_table_free(cost_table_read(path)); break;
    case KERNELS: {
        struct profile *p = profile_read(path);
        fuzz_check(profile_kind(p) != NULL, "no kind");
        for (uint64_t bytes = 1; bytes < 1e18; bytes *= 1000)
            fuzz_check(profile_move(p, bytes, true) >= 0, "before now");
        break;
    }
    case CELLS: case HOOKS: {
        bool own = data[0] % READERS == CELLS;
        struct cells c = { 0 };
        if (!own) paths[0] = fuzz_path(2, cells, sizeof cells - 1);
        cells_read(&c, paths);
        cells_and_sums(&c, own ? fuzz_path(3, hooks, sizeof hooks - 1) : path);
        break;
    }
    case ENTRIES: {
        struct entries_columns names = { "run", "node", "factor", "time_seconds" };
        struct entries e = entries_read(path, others, &names);
        fuzz_check(e.a.rows == e.rows.n, "a row too many");
        break;
    }
    case EXAMPLES: {
        struct data_columns names = { .target = "y", .group = "g", .classes = n & 1 };
        struct data d = data_read(paths, &names);
        for (size_t i = 0; i < d.rows; i++) fuzz_check(d.group[i] < d.groups.n, "a group that is none");
        data_free(&d);
        break;
    }
    case TRACES: {
        struct traces t = { 0 };
        traces_read(&t, csv_open(path));
        for (size_t i = 0; i < t.npath; i++) {
            fuzz_check(t.path[i].first + t.path[i].n <= t.nstep, "steps that are not there");
            trace_base(&t, &t.path[i]);
            trace_best(&t, &t.path[i]);
        }
        break;
    }
    case RESULTS: fuzz_check(result_run_read(path).n > 0, "no counted step"); break;
    case FIGURES: {
        int figure = 7 + (int)(n % 6);
        csvw *w = csvw_fd(fuzz_reuse(0));
        figure_write(w, results_read(path, figure, 2), figure);
        csvw_close(w);
        break;
    }
    case SIZES: {
        struct sizes s = { 0 };
        struct intern labels = { 0 };
        intern(&labels, str_of("a"));
        intern(&labels, str_of("b"));
        sizes_read(&s, path, &labels);
        for (size_t i = 0; i < s.n; i++) fuzz_check(!(size_ratio(&s, s.v[i].program, 0, 1) < 0), "a size below 0");
        break;
    }
    case BEST: {
        struct best_tree t = { 0 };
        best_read(&t, csv_open(path));
        for (size_t i = 1; i < t.sites.n; i++) fuzz_check(t.node[i].parent < i, "a parent that comes later");
        best(t.node, t.sites.n, 0.5, n & 1);
        break;
    }
    case CODES: {
        struct table t = table_load(csv_open(more));
        struct codes c = codes_read(path, &t);
        csvw *w = csvw_fd(fuzz_reuse(0));
        fuzz_check(codes_apply(&c, &t, w) <= t.nrow * (size_t)t.ncol, "more fields than there are");
        csvw_close(w);
        break;
    }
    case POLICIES: policies_judge(paths, half ? more : NULL, n); break;
    case RESULT_LINES: {
        size_t times = 0;
        results_walk(one_file(1, "b/e", "plugin_p.csv", path), NULL, count_line, &times);
        break;
    }
    case SITES: {
        struct site_table s = { 0 };
        site_table_read(&s, path);
        for (size_t i = 0; i < s.key.n; i++) fuzz_check(!isnan(s.heat[i]), "a site without heat");
        break;
    }
    case VERDICTS: {
        struct intern yes = { 0 };
        verdicts_read(&yes, path, "predicted");
        verdicts_yes(&yes, &(struct call_row){ .callee = str_of("a"), .chain = str_of("b") });
        break;
    }
    case CURVE: {
        struct curve c = { .algo = "a", .kind = "real", .w = csvw_fd(fuzz_reuse(0)) };
        curve_recall(&c, xformat("%s/x", one_file(2, "", "x.curve", path)), 100);
        for (size_t i = 0; i < c.n; i++) fuzz_check(c.point[i].steps <= 100, "later than asked for");
        curve_close(&c);
        break;
    }
    case WANTED: {
        struct graph *g = graph_read(fuzz_path(2, graph, sizeof graph - 1));
        struct wanted w = { 0 };
        wanted_all(&w, g, n & 1, n & 2);
        size_t before = w.n;
        wanted_drop(&w, g, path, 1, "t", "x");
        fuzz_check(w.n <= before, "more is wanted than at first");
        break;
    }
    case CALLS: {
        const char *names[] = { "calls.csv", "never.csv", NULL }, *files[] = { path, more, NULL };
        struct work w = { .path = (char *)(uintptr_t)folder_of(3, "", names, files),
                          .scope = n & 1 ? SCOPE_LTO : SCOPE_FILE };
        work_read_calls(&w);
        for (size_t i = 0; i < w.never.n; i++) fuzz_check(w.never_reason[i] != NULL, "never, without a reason");
        break;
    }
    case HEADER: {
        str name[ADVISE_FEATURES];
        struct arena text = { 0 };
        size_t names = advise_header((str){ (const char *)data + 1, n - 1 }, name, &text);
        fuzz_check(names <= ADVISE_FEATURES, "names without room");
        for (size_t i = 0; i < names; i++) fuzz_check(name[i].s[name[i].n] == 0, "a name without an end");
        break;
    }
    default: {
        struct nest_rows r = { 0 };
        rows_open(&r, csv_open(path), false);
        while (rows_next(&r)) {}
        rows_close(&r);
    }
    }
    csvw *w = csvw_fd(fuzz_reuse(0));
    frame_write(f, w);
    csvw_close(w);
    frame_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    return fuzz_readers(reader, READERS, body, data, n);
}
