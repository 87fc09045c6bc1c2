/* source.c - see source.h */
#include "decisions/source.h"
#include "base/message.h"
#include <string.h>

struct source source_open(char **paths, enum sexp_dialect dialect)
{
    static char dash[] = "-", *standard[] = { dash, NULL };
    return (struct source){ .path = paths[0] ? paths : standard, .dialect = dialect };
}

const struct sexp *source_next(struct source *s)
{
    while (*s->path) {
        if (!s->reader) {
            s->reader = sexp_open(*s->path, s->dialect);
            s->file = strcmp(*s->path, "-") == 0 ? "<stdin>" : *s->path;
            s->index = 0;
            s->started = false;
        }
        const struct sexp *e = sexp_next(s->reader);
        if (e) {
            s->index += s->started;
            s->started = true;
            return e;
        }
        if (!s->started) die("%s: empty input", s->file);
        sexp_close(s->reader);
        s->reader = NULL;
        s->path++;
    }
    return NULL;
}

void source_tree(struct names *s, const struct sexp *e, struct decisions *d, int round, bool reversed, struct itree *t)
{
    decisions_clear(d);
    if (form_of(e) >= FORM_TREE_V0) {
        itree_read(s, e, t);
        return;
    }
    decisions_read(s, e, d);
    itree_build(t, d, round, reversed);
}

str source_program(const struct source *s, const char *given)
{
    if (given) return str_of(given);
    const char *slash = strrchr(s->file, '/'), *name = slash ? slash + 1 : s->file;
    return (str){ name, strcspn(name, ".") };
}

void source_decisions(struct names *s, const struct sexp *e, struct decisions *d)
{
    if (form_of(e) < FORM_TREE_V0) {
        decisions_read(s, e, d);
        return;
    }
    struct itree t = { 0 };
    itree_read(s, e, &t);
    itree_decisions(&t, 0, d);
    itree_free(&t);
}
