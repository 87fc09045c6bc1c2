/* inline-calls - what is known about the calls of a program without a search
 *
 * Usage: inline-calls [--level=-Oz] [--threshold=N] WORK
 *
 * WORK is a directory made by inline-module.  Builds each module twice in
 * this process, once as the compiler decides and once with nothing inlined,
 * and writes a row for each call about which there is a choice: program,
 * module, callee, caller, chain (as inline-sites names them), then features:
 * heuristic_yes (1: the compiler inlines it, with -inline-threshold=N),
 * callee_bytes, caller_bytes (of machine code, with nothing inlined), uses
 * (calls of the callee), callee_local (1: it goes when all of them are
 * inlined), only_call,
 * arguments, constants (of the arguments), callee_instructions and
 * callee_blocks (as the source has them), callee_calls, caller_calls,
 * others_bytes (what inlining all calls of the callee would copy, less the
 * callee where it goes) and callee_leaf.  These are the features that the
 * policy share/policies/size.model decides by.
 *
 * Examples:
 *   $ inline-calls w | fit-predict -m share/policies/size.model > p.csv
 *   $ inline-size --verdicts=p.csv --decisions=p.sexp w
 */
#include "base/filter.h"
#include "inline/prove.h"
#include "table/csvio.h"
#include HELP

static enum level level = LEVEL_OZ;
static const char *threshold, *out;
static const struct opt options[] = {
    LEVEL_OPTION(level),
    THRESHOLD_OPTION(threshold),
    OUTPUT_OPTION(out),
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one work directory expected");
    struct work *k = work_open_llvm(argv[i]);
    struct prove p = { .work = k, .level = level_name[level] };
    csvw *w = csvw_open(out);
    csvw_names(w, "program,module,callee,caller,chain," PROVE_COLUMNS);
    csvw_end(w);
    for (size_t j = 0, n = prove_modules(k); j < n; j++) {
        struct proved one;
        prove_features(&p, j, threshold, &one);
        if (one.why) die("%s: %s", one.module, one.why);
        for (size_t c = 0; c < one.calls; c++) {
            const struct prove_call *call = &one.call[c];
            if (call->fixed || !call->row) continue;
            csvw_cstr(w, k->program->name);
            csvw_cstr(w, one.module);
            csvw_str(w, call->row->callee);
            csvw_str(w, call->row->caller);
            csvw_str(w, call->row->chain);
            for (size_t f = 0; f < PROVE_FEATURES; f++) csvw_num(w, call->feature[f]);
            csvw_end(w);
        }
        proved_free(&one);
    }
    return csvw_close(w);
}
