/* inline-emit - decisions in a form that a compiler reads
 *
 * Usage: inline-emit --to=replay|attributes|gcc [--decisions=FILE] --out=DIR WORK
 *        inline-emit --form=v0|v1|simple|canonical [OPTION]... [FILE]...
 *
 * --to=replay takes decisions into your own build: WORK is a directory
 * of inline-module --lto, FILE what a search found there (none: what the
 * compiler does by itself).  DIR gets compile.replay and link.replay, files
 * for clang's and lld's inliners, the profile, and flags.mk with CC, AR,
 * RANLIB, CFLAGS and LDFLAGS:
 *
 *   $ make $(grep -v '^#' DIR/flags.mk ...)   or   include DIR/flags.mk
 *
 * Calls that the files do not name, in code that you write later, stay the
 * compiler's.  The build that they make is made here too and compared with
 * the measured one; to stdout goes one row: program, compiler, compile_yes,
 * compile_no, link_yes, link_no (lines of the files), rounds (builds until
 * both inlined the same), differ (calls that are still decided otherwise),
 * same_text (yes, no: the code is the same, byte for byte), text_bytes,
 * emitted_text_bytes, asked, applied (calls that FILE inlines; those of them
 * that the source still has: calls that an edit moved within their function
 * are found again, others are lost, and a warning says when it is time to
 * search again).  Exit 1 when calls differ.
 *
 * --to=attributes writes DIR/attributes.patch (patch -p1 in the folder it
 * names), which puts always_inline or noinline on the functions all of whose
 * calls were decided alike, for any compiler: program, compiler,
 * always_inline, noinline, mixed (functions decided both ways, left to the
 * compiler), elsewhere (not found in the source's text), calls, expressed
 * (calls that an attribute speaks for), share (the part they are), folder.
 *
 * --to=gcc, for a WORK of inline-module --compiler=gcc, writes decide.txt,
 * gcc.so and flags.mk: program, compiler, inlined (calls in the list).
 *
 * --form writes overrides of the 2018 study: it reads any form of decisions or
 * trees.  V1: the trace of a call lists the declarations and inlined calls
 * around it, innermost first; an apply id is the last site of a path with the
 * others as its parents.  A form that cannot say what the input says is an
 * error that names the call.  Memory: one expression.
 *
 * Examples:
 *   $ inline-emit --to=replay --decisions=learned.sexp --out=home work/jq
 *   $ inline-emit --to=attributes --decisions=learned.sexp --out=home work/jq
 *   $ inline-emit --form=v1 best.decisions > overrides.sexp
 */
#include "decisions/source.h"
#include "inline/home.h"
#include "inline/lto.h"
#include "inline/relocate.h"
#include "base/filter.h"
#include "table/csvio.h"
#include HELP

static const char *output, *decisions;
static enum { NOWHERE = -1, REPLAY, ATTRIBUTES, GCC } to = NOWHERE;
static enum { NO_FORM = -1, V0, V1, SIMPLE, CANONICAL } form = NO_FORM;
static enum level level = LEVEL_O2;
static enum sexp_dialect dialect = SEXP_CORE;
static bool cold_small;
static long only_round = -1;
static const struct opt options[] = {
    { 0, "to", WORD, &to, "replay|attributes|gcc", "files for a compiler's own build" },
    { 'd', "decisions", STR, &decisions, "FILE", "with --to: what to inline" },
    { 0, "level", WORD, &level, LEVELS, "with --to: optimisation" },
    { 0, "cold-small", FLAG, &cold_small, NULL, "with --to=replay: least code for what the profile says is cold" },
    { 0, "form", WORD, &form, "v0|v1|simple|canonical", "what to write" },
    { 0, "round", INT, &only_round, "N", "give every decision this round; -1: as read", -1, 1000 },
    SOURCE_OPTIONS(dialect, output),
    { 0 } };

static int take_home(const char *work)
{
    struct live asked = { 0 }, found = { 0 }, legal = { 0 };
    struct home h = { .work = work_open(work), .level = level_name[level], .directory = output, .file = decisions };
    size_t moved = 0;
    lto_cold_small(cold_small);
    if (decisions) {
        live_read(&asked, decisions);
        moved = live_relocate(h.work, &asked, &found);
        work_only_legal(h.work, &found, &legal);
        h.wanted = &legal;
    }
    if (moved)
        warn("%s: %zu calls stand on other lines than in %s, and were found", h.work->program->name, moved, decisions);
    if (to == GCC && !decisions) usage("--to=gcc wants --decisions");
    csvw *w = csvw_open(NULL);
    bool same = to == ATTRIBUTES ? home_attributes(&h, w) : to == GCC ? home_gcc(&h, w) : home_replay(&h, w);
    csvw_close(w);
    return same ? EXIT_OK : EXIT_FAIL;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    static struct names names;
    static struct decisions d;
    if (to != NOWHERE && (form != NO_FORM || !output || argc - i != 1))
        usage("--to wants --out=DIR and one work directory");
    if (to != NOWHERE) return take_home(argv[i]);
    if (form == NO_FORM) usage("no form given, see --form and --to");
    struct source in = source_open(argv + i, dialect);
    sexpw *w = sexpw_open(output);
    for (const struct sexp *e; (e = source_next(&in)); ) {
        source_decisions(&names, e, &d);
        for (size_t k = 0; only_round >= 0 && k < d.n; k++) d.d[k].round = (int)only_round;
        if (form == V0) decisions_write_v0(w, &names, &d);
        else if (form == V1) decisions_write_v1(w, &names, &d);
        else if (form == SIMPLE) decisions_write_simple(w, &names, &d);
        else decisions_write(w, &names, &d);
    }
    return sexpw_close(w);
}
