/* inline-same - run every build of a program apart and compare all that it leaves
 *
 * Usage: inline-same [--copy] [--stderr] WORK LABEL=EXE...
 *
 * Runs all that WORK, made by inline-module, is searched on and confirmed by,
 * under each executable: in an overlay of the program's folder, so that files
 * that it writes there do not last, and without a network; where the system
 * does not allow that, or with --copy, in a copy of the folder.  The first
 * label says what is right.
 *
 * Columns out: program, run (search.K, confirm.K), label, state, exit,
 * output_hash, error_hash, files (made, changed or removed in the folder),
 * files_hash, apart (overlay or copy).  State: same; exit, output, stderr or
 * files where that differs first; or how the run failed (signal, timeout ..).
 * error_hash is compared with --stderr only: messages begin with the name of
 * the executable.  Exit 0 whatever is found.  Rows come as they are run.
 *
 * Examples:
 *   $ inline-same w O2=a.out small=b.out | csv-where -c state --is=same --not
 */
#include "base/filter.h"
#include "inline/isolate.h"
#include "inline/work.h"
#include "table/csvio.h"
#include HELP
#include <stdlib.h>
#include <string.h>

static bool copy, with_error;
static double limit = 60;
static const char *out;
static const struct opt options[] = {
    { 0, "copy", FLAG, &copy, NULL, "copy the folder" },
    { 0, "stderr", FLAG, &with_error, NULL, "compare standard error too" },
    LIMIT_OPTION(limit),
    OUTPUT_OPTION(out),
    { 0 } };

static const char *state_of(const struct isolated *a, const struct isolated *first)
{
    if (a->why) return "not_started";
    if (a->ran.how != RAN_EXIT) return ran_word(&a->ran);
    if (a->ran.code != first->ran.code) return "exit";
    if (a->ran.output_hash != first->ran.output_hash || a->ran.output_bytes != first->ran.output_bytes) return "output";
    if (with_error && a->error_hash != first->error_hash) return "stderr";
    return a->files == first->files && a->files_hash == first->files_hash ? "same" : "files";
}

static void put(csvw *w, const struct program *p, const char *set, size_t k, str label, const struct isolated *a,
                const struct isolated *first)
{
    csvw_cstr(w, p->name);
    csvw_format(w, "%s.%zu", set, k + 1);
    csvw_str(w, label);
    csvw_cstr(w, state_of(a, first));
    csvw_int(w, a->ran.code);
    csvw_format(w, "%016llx", (unsigned long long)a->ran.output_hash);
    csvw_format(w, "%016llx", (unsigned long long)a->error_hash);
    csvw_int(w, (int64_t)a->files);
    csvw_format(w, "%016llx", (unsigned long long)a->files_hash);
    csvw_cstr(w, a->how);
    csvw_end(w);
}

static void run_set(csvw *w, const struct program *p, const char *set, struct program_run *run, size_t n, char **builds)
{
    for (size_t k = 0; k < n; k++) {
        struct isolated first = { 0 };
        for (size_t b = 0; builds[b]; b++) {
            char *exe = realpath(strchr(builds[b], '=') + 1, NULL);
            run[k].argv[0] = exe;
            struct child c = { .argv = run[k].argv, .directory = p->directory, .input = run[k].input, .cpu = -1,
                               .limits = { .wall_seconds = limit, .output_bytes = (uint64_t)1 << 31 } };
            struct isolated a = isolate_run(&c, copy);
            if (b == 0) first = a;
            put(w, p, set, k, (str){ builds[b], (size_t)(strchr(builds[b], '=') - builds[b]) }, &a, &first);
            free(exe);
        }
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i < 2) usage("a work directory and LABEL=EXE expected");
    for (int a = i + 1; a < argc; a++) {
        const char *equals = strchr(argv[a], '=');
        if (!equals || equals == argv[a]) usage("'%s' is not LABEL=EXE", argv[a]);
        char *exe = realpath(equals + 1, NULL);
        if (!exe) die_errno("%s", equals + 1);
        free(exe);
    }
    const struct program *p = work_open(argv[i])->program;
    csvw *w = csvw_open(out);
    csvw_names(w, "program,run,label,state,exit,output_hash,error_hash,files,files_hash,apart");
    csvw_end(w);
    run_set(w, p, "search", p->search_run, p->nsearch, argv + i + 1);
    run_set(w, p, "confirm", p->confirm_run, p->nconfirm, argv + i + 1);
    return csvw_close(w);
}
