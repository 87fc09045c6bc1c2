/* names.h - functions, call sites and inlining paths as small integers that know how to print themselves.
 *
 * Three spaces of numbers, each in order of first appearance:
 *   closure   a function: ((Ident linkage) name stamp) in the flambda dialects, any atom for other compilers.
 *             Text: linkage__name__stamp; a unit whose ident does not follow from its linkage is IDENT=linkage.
 *   site      a call within one body: unit and apply stamp (V1: linkage__Apply[7], __Over[7], __Stub), callee and
 *             offset (V0: linkage__name__stamp@7), or any atom.
 *   path      a list of sites, outermost first, kept as a trie, so that prefix and append are cheap.  0 is empty.
 *   meta      what a compiler tells about a function: closure id, origin, original origin, specialised for.
 * The text of a step is <site/site> for a path and {closure} for a declaration; it has no blanks, so steps joined by
 * blanks name a node of a tree.  Format: flambda override and decision dumps, OCaml 4.06 fork, July 2018. */
#ifndef MILLRACE_INLINE_NAMES_H
#define MILLRACE_INLINE_NAMES_H
#include "base/str.h"
#include "tree/sexp.h"

enum { NAME_NONE = UINT32_MAX };
enum site_kind { SITE_ATOM, SITE_V0, SITE_V1 };

struct closure { uint32_t ident, linkage, name, stamp; };  /* texts; ident is NAME_NONE for a plain atom */
struct apply_site {
    enum site_kind kind;
    uint32_t a, b, stamp;
}; /* V1: ident, linkage, word of the stamp; V0: closure a */
struct path { uint32_t parent, site, length; };
struct meta {
    uint32_t closure_id, origin, opt_origin, specialised;
    int n_fields;
}; /* closures, a path, or NAME_NONE */

struct map64 { uint64_t *key; uint32_t *value; size_t n, nslot; };      /* zero-initialise */
uint32_t *map64_at(struct map64 *, uint64_t key);        /* its value, NAME_NONE when new; dies with the next call */
uint32_t map64_find(const struct map64 *, uint64_t key); /* NAME_NONE if absent */
void map64_clear(struct map64 *);
void map64_free(struct map64 *);

struct names {
    struct intern text, closures, sites, metas;
    struct closure *closure;
    struct apply_site *site;
    struct path *path;
    struct meta *meta;
    size_t cap_closure, cap_site, cap_path, cap_meta, n_path;
    struct map64 path_of;
    struct buf scratch;
};

void names_free(struct names *);

/* of ((Ident linkage) name stamp) or an atom; like all that read, dies at file:line */
uint32_t names_closure(struct names *, const struct sexp *, snode);
uint32_t names_closure_of(struct names *, str text);     /* from the text form, or any atom */
uint32_t names_meta(struct names *, const struct sexp *, snode);        /* 3, 4 or 5 fields */
uint32_t names_meta_of(struct names *, uint32_t closure);    /* nothing known but the origin */
uint32_t names_site_v0(struct names *, uint32_t closure, str offset);
uint32_t names_site_of(struct names *, str text);
uint32_t names_apply(struct names *, const struct sexp *, snode);       /* the inlining path of an apply id */
uint32_t names_path(struct names *, const struct sexp *, snode);        /* of a list of (unit stamp) */
uint32_t names_path_of(struct names *, str text);        /* of <a/b/c>, or of a bare site */

str names_number(const struct sexp *, snode);            /* a stamp or an offset: digits; dies at file:line */
bool names_unknown(const struct names *, uint32_t meta); /* the callee is not known */
bool names_is_stub(const struct names *, uint32_t site);

uint32_t path_add(struct names *, uint32_t path, uint32_t site);
uint32_t path_length(const struct names *, uint32_t path);
uint32_t path_prefix(const struct names *, uint32_t path, uint32_t length);
bool path_begins(const struct names *, uint32_t path, uint32_t with);
uint32_t path_join(struct names *, uint32_t path, uint32_t more, uint32_t from);  /* appends more[from ..] */

void names_put_closure(struct buf *, const struct names *, uint32_t closure);
void names_put_path(struct buf *, const struct names *, uint32_t path);      /* <a/b>; an atom path is just the atom */

void names_write_closure(sexpw *, const struct names *, uint32_t closure);
void names_write_meta(sexpw *, const struct names *, uint32_t meta, int n_fields); /* 0: as many as it was read with */
void names_write_path(sexpw *, const struct names *, uint32_t path);
void names_write_apply(sexpw *, const struct names *, uint32_t path, bool parents);  /* an apply id with this path */
#endif
