/* attributes.c - see attributes.h */
#include "inline/attributes.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/out.h"
#include "table/csvio.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum verdict { UNDECIDED, ALL_INLINED, ALL_LEFT, MIXED };

struct function { size_t inlined, left, bodies; uint32_t unit, line; };
struct table { struct intern name; struct function *v; size_t cap; };

struct edit { uint32_t line; char *old, *text; };
struct file { char *path; struct edit *edit; size_t n, cap; };

static struct function *of(struct table *t, str name)
{
    uint32_t k = intern(&t->name, name);
    size_t before = t->cap;
    t->v = grow(t->v, (size_t)k + 1, &t->cap, sizeof *t->v);
    if (t->cap > before) memset(t->v + before, 0, (t->cap - before) * sizeof *t->v);
    return &t->v[k];
}

/* what became of each function's calls in the end: a call that is left before the link may be inlined in it, so there
 * only what the linker left counts as left */
static void count_calls(struct table *t, const struct live *did, bool stages)
{
    for (size_t i = 0; i < did->n; i++) {
        const struct live_site *s = &did->v[i];
        struct function *f = of(t, site_plain(s->site.callee));
        if (s->inlined) f->inlined++;
        else if (!stages || str_is(site_stage(s->site.chain), "link")) f->left++;
    }
}

static const char *find_bodies(const struct work *w, struct table *t)
{
    char *path = xformat("%s/defines.csv", w->path);
    csv *c = csv_open(path);
    int unit = csv_need(c, "unit"), function = csv_need(c, "function"), line = csv_find(c, "line");
    while (line >= 0 && csv_next(c)) {
        int64_t k = csv_int(c, unit), at = csv_int(c, line);
        if (k < 0 || (size_t)k >= w->program->nunits) csv_die(c, unit, "the number of a unit");
        if (at <= 0 || at > INT32_MAX) continue;
        struct function *f = of(t, csv_str(c, function));
        f->bodies++;
        f->unit = (uint32_t)k;
        f->line = (uint32_t)at;
    }
    csv_close(c);
    free(path);
    return line < 0 ? "of an older version, which did not note where functions are: inline-module" : NULL;
}

static enum verdict verdict(const struct work *w, const struct function *f, str name)
{
    if (!f->inlined && !f->left) return UNDECIDED;
    if (f->inlined && f->left) return MIXED;
    if (f->inlined && intern_find(&w->never, name) >= 0) return MIXED;
    return f->inlined ? ALL_INLINED : ALL_LEFT;
}

static char *source_path(const struct unit *u)
{
    char *joined = u->source[0] == '/' ? xstrdup(u->source) : xformat("%s/%s", u->directory, u->source);
    char *path = realpath(joined, NULL);
    if (!path) die_errno("%s", joined);
    free(joined);
    return path;
}

/* the name as a word with a parenthesis behind it; NULL: not in this line */
static const char *find_name(const char *line, str name)
{
    for (const char *p = line; (p = memmem(p, strlen(p), name.s, name.n)); p++) {
        const char *behind = p + name.n;
        bool begins = p == line || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
        while (*behind == ' ' || *behind == '\t') behind++;
        if (begins && *behind == '(') return p;
    }
    return NULL;
}

static char *read_line(const char *path, uint32_t number)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    uint32_t at = 0;
    ssize_t n = 0;
    if (!f) die_errno("%s", path);
    while (at < number && (n = text_line(f, path, &line, &cap)) >= 0) at++;
    fclose(f);
    if (n <= 0 || at != number || strlen(line) != (size_t)n) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = 0;
    return line;
}

static struct file *file_of(struct file **v, size_t *n, size_t *cap, char *path)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp((*v)[i].path, path) == 0) {
            free(path);
            return &(*v)[i];
        }
    *v = grow(*v, *n + 1, cap, sizeof **v);
    (*v)[*n] = (struct file){ .path = path };
    return &(*v)[(*n)++];
}

static int by_line(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    return ORDER(x->line, y->line);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

/* the folder that holds all files, with its slash */
static size_t common(const struct file *v, size_t n)
{
    size_t k = n ? strlen(v[0].path) : 0;
    for (size_t i = 1; i < n; i++) {
        size_t same = 0;
        while (same < k && v[i].path[same] == v[0].path[same]) same++;
        k = same;
    }
    while (k && v[0].path[k - 1] != '/') k--;
    return k;
}

static void write_patch(const char *path, struct file *v, size_t n, size_t top)
{
    struct out *o = out_open(path);
    FILE *f = out_file(o);
    if (n) qsort(v, n, sizeof *v, by_path);
    for (size_t i = 0; i < n; i++) {
        qsort(v[i].edit, v[i].n, sizeof *v[i].edit, by_line);
        fprintf(f, "--- a/%s\n+++ b/%s\n", v[i].path + top, v[i].path + top);
        for (size_t k = 0; k < v[i].n; k++) {
            struct edit *e = &v[i].edit[k];
            if (k + 1 == v[i].n || e[1].line != e->line)         /* one of two in a line */
                fprintf(f, "@@ -%u +%u @@\n-%s\n+%s\n", e->line, e->line, e->old, e->text);
            free(e->old);
            free(e->text);
        }
        free(v[i].edit);
    }
    out_close(o);
}

static void express(const struct work *w, const struct table *t, const char *path, struct attributed *a)
{
    struct file *file = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < t->name.n; i++) {
        const struct function *f = &t->v[i];
        enum verdict what = verdict(w, f, t->name.name[i]);
        a->calls += f->inlined + f->left;
        if (what == UNDECIDED) continue;
        if (what == MIXED) {
            a->mixed++;
            continue;
        }
        char *source = f->bodies == 1 ? source_path(&w->program->unit[f->unit]) : NULL;
        char *line = source ? read_line(source, f->line) : NULL;
        const char *at = line ? find_name(line, t->name.name[i]) : NULL;
        if (!at) {
            a->elsewhere++;
            free(line);
        } else {
            struct file *here = file_of(&file, &n, &cap, xstrdup(source));
            here->edit = grow(here->edit, here->n + 1, &here->cap, sizeof *here->edit);
            here->edit[here->n++] = (struct edit){ f->line, line,
                xformat("%.*s__attribute__((%s)) %s", (int)(at - line), line,
                        what == ALL_INLINED ? "always_inline" : "noinline", at) };
            ++*(what == ALL_INLINED ? &a->always : &a->never);
            a->expressed += f->inlined + f->left;
        }
        free(source);
    }
    size_t top = common(file, n);
    a->top = xformat("%.*s", (int)top, n ? file[0].path : "");
    write_patch(path, file, n, top);
    for (size_t i = 0; i < n; i++) free(file[i].path);
    free(file);
}

const char *attributes_patch(const struct work *w, const char *level, const struct live *wanted, const char *path,
                             struct attributed *a)
{
    struct live did = { 0 };
    struct table t = { 0 };
    *a = (struct attributed){ 0 };
    if (!w->llvm || w->scope != SCOPE_LTO) return "only --lto tells where a function is defined: see inline-module";
    const char *why = work_build(w, level, wanted, NULL, NULL, true, &did);
    live_sort(&did);
    if (!why) {
        count_calls(&t, &did, w->scope == SCOPE_LTO);
        why = find_bodies(w, &t);
    }
    if (!why) express(w, &t, path, a);
    live_free(&did);
    intern_free(&t.name);
    free(t.v);
    return why;
}
