/* inline-emit - decisions in a form that a compiler reads
 *
 * Usage: inline-emit --to=replay|attributes|gcc [--decisions=FILE] --out=DIR WORK
 *        inline-emit --form=v0|v1|simple|canonical [OPTION]... [FILE]...
 *
 * --to=replay takes decisions home, into your own build: WORK is a directory
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
 * both inlined the same), differ (calls that are decided otherwise all the
 * same), same_text (yes, no: the code is the same, byte for byte), text_bytes,
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
#include "flambda/source.h"
#include "inline/attributes.h"
#include "inline/emit.h"
#include "inline/relocate.h"
#include "base/filter.h"
#include "table/csvio.h"
#include HELP
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const double STALE = 0.9; /* of the calls to inline are there: below, another program was measured */
static const char *output, *decisions, *out;
static enum { NOWHERE = -1, REPLAY, ATTRIBUTES, GCC } to = NOWHERE;
static enum { NO_FORM = -1, V0, V1, SIMPLE, CANONICAL } form = NO_FORM;
static enum level level = LEVEL_O2;
static enum sexp_dialect dialect = SEXP_CORE;
static long n_fields, only_round = -1;
static const struct opt options[] = {
    { 0, "to", WORD, &to, "replay|attributes|gcc", "files for a compiler's own build", 0, 0 },
    { 'd', "decisions", STR, &decisions, "FILE", "with --to: what to inline", 0, 0 },
    { 0, "out", STR, &out, "DIR", "with --to: where the files go", 0, 0 },
    { 0, "level", WORD, &level, LEVELS, "with --to: optimisation", 0, 0 },
    { 0, "form", WORD, &form, "v0|v1|simple|canonical", "what to write" },
    { 0, "round", INT, &only_round, "N", "give every decision this round; -1: as read", -1, 1000 },
    { 0, "fields", INT, &n_fields, "N", "fields of V1 metadata, 3 to 5; 0: as read, else 5", 0, 5 },
    { 0, "dialect", WORD, &dialect, SEXP_DIALECTS, "how atoms are written: compiler has no quotes" },
    { 'o', "output", STR, &output, "FILE", "write here instead of standard output" },
    { 0 } };

static int take_attributes(const struct work *w, const struct live *legal)
{
    struct attributed a;
    if (mkdir(out, 0777) != 0 && errno != EEXIST) die_errno("%s", out);
    const char *why = attributes_patch(w, level_name[level], legal, xformat("%s/attributes.patch", out), &a);
    if (why) die("%s: %s", w->program->name, why);
    csvw *t = csvw_open(output);
    csvw_names(t, "program,compiler,always_inline,noinline,mixed,elsewhere,calls,expressed,share,folder");
    csvw_end(t);
    csvw_cstr(t, w->program->name);
    csvw_cstr(t, w->compiler);
    size_t n[] = { a.always, a.never, a.mixed, a.elsewhere, a.calls, a.expressed };
    for (size_t i = 0; i < 6; i++) csvw_int(t, (int64_t)n[i]);
    csvw_known(t, a.calls ? (double)a.expressed / (double)a.calls : NAN);
    csvw_cstr(t, a.top);
    csvw_end(t);
    return csvw_close(t);
}

static int take_gcc(const struct work *w, const struct live *legal)
{
    size_t n;
    if (!legal) usage("--to=gcc wants --decisions");
    const char *why = emit_gcc(w, level_name[level], legal, out, &n);
    if (why) die("%s: %s", w->program->name, why);
    csvw *t = csvw_open(output);
    csvw_names(t, "program,compiler,inlined");
    csvw_end(t);
    csvw_cstr(t, w->program->name);
    csvw_cstr(t, w->compiler);
    csvw_int(t, (int64_t)n);
    csvw_end(t);
    return csvw_close(t);
}

static int take_home(const char *work)
{
    struct work *w = work_open(work);
    struct live asked = { 0 }, found = { 0 }, legal = { 0 };
    struct emitted e;
    size_t moved = 0;
    if (decisions) {
        live_read(&asked, decisions);
        moved = live_relocate(w, &asked, &found);
        work_only_legal(w, &found, &legal);
    }
    if (moved)
        warn("%s: %zu calls stand on other lines than in %s, and were found", w->program->name, moved, decisions);
    if (to == ATTRIBUTES) return take_attributes(w, decisions ? &legal : NULL);
    if (to == GCC) return take_gcc(w, decisions ? &legal : NULL);
    const char *why = emit_replay(w, level_name[level], decisions ? &legal : NULL, out, &e);
    if (why) die("%s: %s", w->program->name, why);
    csvw *t = csvw_open(output);
    csvw_names(t, "program,compiler,compile_yes,compile_no,link_yes,link_no,rounds,differ,same_text,text_bytes,"
                  "emitted_text_bytes,asked,applied");
    csvw_end(t);
    csvw_cstr(t, w->program->name);
    csvw_cstr(t, w->compiler);
    for (int stage = 0; stage < 2; stage++) {
        csvw_int(t, (int64_t)e.yes[stage]);
        csvw_int(t, (int64_t)e.no[stage]);
    }
    csvw_int(t, (int64_t)e.rounds);
    csvw_int(t, (int64_t)e.differ);
    csvw_cstr(t, e.same_text ? "yes" : "no");
    csvw_num(t, e.text_bytes);
    csvw_num(t, e.open_text_bytes);
    csvw_int(t, (int64_t)e.asked);
    csvw_int(t, (int64_t)e.applied);
    csvw_end(t);
    csvw_close(t);
    if ((double)e.applied < STALE * (double)e.asked)
        warn("%s: stale: of %zu calls that %s inlines the source has %zu; search again", w->program->name, e.asked,
             decisions, e.applied);
    return e.differ ? EXIT_FAIL : EXIT_OK;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    static struct names names;
    static struct decisions d;
    if (to != NOWHERE && (form != NO_FORM || !out || argc - i != 1))
        usage("--to wants --out=DIR and one work directory");
    if (to != NOWHERE) return take_home(argv[i]);
    if (form == NO_FORM) usage("no form given, see --form and --to");
    struct source in = source_open(argv + i, dialect);
    sexpw *w = sexpw_open(output);
    for (const struct sexp *e; (e = source_next(&in)); ) {
        source_decisions(&names, e, &d);
        for (size_t k = 0; only_round >= 0 && k < d.n; k++) d.d[k].round = (int)only_round;
        if (form == V0) decisions_write_v0(w, &names, &d);
        else if (form == V1) decisions_write_v1(w, &names, &d, (int)n_fields);
        else if (form == SIMPLE) decisions_write_simple(w, &names, &d);
        else decisions_write(w, &names, &d);
    }
    return sexpw_close(w);
}
