/* decisions.h - lists of inlining decisions: the canonical stream of this suite and the original forms.
 *
 * Canonical is that of canonical.h, one expression a program version.  Here a step {F} enters the declaration of F,
 * anything else is a call; live compilers use their own call-site keys as steps, such as f:7:1; the texts of the
 * flambda forms are those of names.h.
 *
 * Read as well, recognised by shape: V1 decisions (3, 4 or 5 fields of metadata), V0 decisions, simple overrides,
 * result records ((id I) (overrides ..) (decisions ..) (benchmark ..)) in any order of fields. */
#ifndef MILLRACE_INLINE_DECISIONS_H
#define MILLRACE_INLINE_DECISIONS_H
#include "decisions/canonical.h"
#include "decisions/names.h"

enum form { FORM_EMPTY, FORM_PLAIN, FORM_SIMPLE, FORM_V0, FORM_V1, FORM_TREE_V0, FORM_TREE_V1, FORM_EXPANDED };

/* One step of a trace.  call: label is a path (names.h) and func the callee's meta; declaration: label is the origin,
 * a closure, and func its meta.  func is NAME_NONE when not told. */
struct trace_step { uint32_t label, func; bool decl; };
struct decision { size_t first; uint32_t n; int round; enum action action; };     /* step[first .. first+n-1] */

struct decisions {
    enum form form;
    uint32_t program, compiler;                          /* texts in names, or NAME_NONE */
    struct trace_step *step;
    struct decision *d;
    double *time;                                        /* seconds, one per timing; none when not measured */
    size_t n_step, n, n_time, cap_step, cap_d, cap_time;
};

enum form form_of(const struct sexp *);                  /* by shape; dies at file:line when it is none of them */
const char *form_name(enum form);                        /* "v0" ... */

/* Replaces *d by what e says; dies at file:line.  Trees are not lists: see itree.h.  Memory is kept for the next
 * call. */
void decisions_read(struct names *, const struct sexp *e, struct decisions *d);
void decisions_add(struct decisions *, const struct trace_step *, uint32_t n, int round, enum action);
void decisions_clear(struct decisions *);
void decisions_free(struct decisions *);

/* The node a site names: its steps joined by blanks.  decisions_step is the inverse of one step. */
void decisions_path(struct buf *, const struct names *, const struct trace_step *, uint32_t n);
struct trace_step decisions_step(struct names *, str text);

void decisions_write(sexpw *, const struct names *, const struct decisions *);       /* canonical */
void decisions_write_v0(sexpw *, const struct names *, const struct decisions *);    /* dies when sites are not V0 */
void decisions_write_v1(sexpw *, const struct names *, const struct decisions *);
void decisions_write_simple(sexpw *, const struct names *, const struct decisions *);

double span_seconds(str text);                           /* "1.34333m", "24.5s", h, ms, us, ns; NaN when malformed */
#endif
