/* inline-build - compile a program under given inlining decisions
 *
 * Usage: inline-build [--decisions=FILE | --threshold=N | --stock=ROW]
 *                     --out=EXE WORK
 *
 * WORK is a directory made by inline-module.  With --decisions, exactly the
 * calls that FILE wants inlined are inlined; without, the compiler's own
 * heuristic decides, with its threshold (clang -inline-threshold, gcc
 * max-inline-insns-auto and -single) where one is given.  --compiler takes
 * another compiler than that of WORK, laid out in WORK/NAME.  --stock is what
 * an expert would build instead, by the compiler alone: O2 is what most users
 * have, each source compiled by itself and linked; lto-pgo is the strongest
 * that clang has, with a profile of the search runs; gcc's own; bolt.
 * With --stock the table that comes out has no rows.  lto-pgo-size is lto-pgo
 * with code that the profile calls cold made small, which --cold-small asks
 * of a WORK of inline-module --lto too.  With --optional a stock build that
 * cannot be had (the compiler or the linker refuses the program, or is not
 * installed) is said and left out, exit 0 and no EXE; a full disk, a kill or a
 * limit is still exit 1.
 *
 * Writes to stdout one row for each call that was asked for or inlined:
 * callee, chain, asked (yes, no), inlined (yes, no), reason (why a decision
 * was not obeyed).  The compiler itself says what happened, nothing is
 * assumed.  Reasons:
 *   illegal: ...           not passed on, since the compiler would obey and
 *                          make a wrong program, or says it never inlines
 *   context: ...           it decides a call once, not in each context (gcc)
 *   no such call: ...      the call is not in the program: never was, or the
 *                          call around it was not inlined, or code is gone
 *   refused: ...           it is there, was asked for, and was not inlined
 *   not asked: ...         inlined all the same (always_inline)
 * --sites adds the calls that are still there, asked no, inlined no.
 *
 * Exit 1 when the program could not be compiled.
 *
 * Examples:
 *   $ inline-build --out=a.out work/bzip2
 *   $ inline-build --decisions=best.sexp --out=a.out work/bzip2 > obeyed.csv
 *   $ inline-build --stock=lto-pgo --out=base work/bzip2
 */
#include "base/filter.h"
#include "inline/lto.h"
#include "inline/stock.h"
#include "inline/tool.h"
#include "table/csvio.h"
#include HELP
#include <unistd.h>

static const char *decisions, *exe, *threshold, *complete, *compiler;
static int stock = -1;
static enum level level = LEVEL_O2;
static bool sites, cold_small, optional;
static const struct opt options[] = {
    { 'd', "decisions", STR, &decisions, "FILE", "what to inline" },
    { 'o', "out", STR, &exe, "EXE", "the executable" },
    BUILD_OPTIONS(level, compiler),
    THRESHOLD_OPTION(threshold),
    { 0, "stock", WORD, &stock, STOCK_WORDS, "what the compiler does by itself" },
    { 0, "optional", FLAG, &optional, NULL, "no stock build where the program cannot have it" },
    { 0, "cold-small", FLAG, &cold_small, NULL, "least code for what the profile says is cold" },
    { 0, "sites", FLAG, &sites, NULL, "also the calls left, for a second compilation" },
    { 0, "complete", STR, &complete, "FILE", "write what was done as decisions" },
    { 0 } };

static void row(csvw *w, const struct live_site *s, bool asked, bool inlined, const char *reason)
{
    csvw_str(w, s->site.callee);
    csvw_str(w, s->site.chain);
    csvw_cstr(w, asked ? "yes" : "no");
    csvw_cstr(w, inlined ? "yes" : "no");
    csvw_cstr(w, reason);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one work directory expected");
    if (!exe) usage("no executable to write, see --out");
    if (decisions && threshold) usage("--threshold is for the heuristic, --decisions replaces it");
    if (optional && stock < 0) usage("--optional is of --stock");
    if (stock >= 0 && (decisions || threshold || sites || complete))
        usage("--stock tells nothing and takes no decisions");
    struct work *k = work_open_for(argv[i], compiler);
    lto_cold_small(cold_small);
    struct live asked = { 0 }, legal = { 0 }, did = { 0 };
    if (decisions) {
        live_read(&asked, decisions);
        work_only_legal(k, &asked, &legal);
    }
    const char *why = stock >= 0 ? stock_build(k, option_word(&stock), exe)
                            : work_build(k, level_name[level], decisions ? &legal : NULL, threshold, exe,
                                         sites || complete, &did);
    if (why && optional && !tool_broke()) {
        warn("%s: no %s: %s", k->program->name, option_word(&stock), why);
        unlink(exe);
        return EXIT_OK;
    }
    if (why) die("%s: %s", k->program->name, why);
    if (complete) live_write(&did, complete, k->program->name, k->compiler);
    csvw *w = csvw_open(NULL);
    csvw_names(w, "callee,chain,asked,inlined,reason");
    csvw_end(w);
    for (size_t j = 0; j < asked.n; j++) {
        const struct live_site *s = &asked.v[j], *d = live_find(&did, s->site);
        if (s->inlined) row(w, s, true, d && d->inlined, d && d->inlined ? NULL : work_disobeyed(k, s, &did));
    }
    for (size_t j = 0; j < did.n; j++) {
        const struct live_site *d = &did.v[j], *s = live_find(&asked, d->site);
        if ((d->inlined || sites) && !(s && s->inlined))
            row(w, d, false, d->inlined, decisions && d->inlined ? "not asked: always_inline" : NULL);
    }
    return csvw_close(w);
}
