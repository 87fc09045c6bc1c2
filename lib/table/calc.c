#include "table/calc.h"
#include "base/reread.h"
#include <stdlib.h>
#include <string.h>

static void define_lets(struct scope *s, const struct list *lets)
{
    for (int i = 0; i < lets->n; i++) {
        size_t n = binding_name("--let", lets->v[i]);
        char *name = xformat("%.*s", (int)n, lets->v[i]);
        if (csv_find(s->t, name) >= 0) usage("--let: there is a column '%s'", name);
        size_t k = scope_define(s, str_of(name));
        s->named[k] = (struct value){ .kind = FIELD, .column = -1, .text = str_of(lets->v[i] + n + 1) };
    }
}

static void compile_set(struct calc *c, size_t i, const char *binding)
{
    size_t n = binding_name("--set", binding);
    char *name = xformat("%.*s", (int)n, binding);
    c->set[i] = expr_compile(&c->scope, "--set", binding + n + 1);
    c->name[i] = scope_define(&c->scope, str_of(name));
    c->scope.late[c->name[i]] = expr_late(c->set[i]);
    if (c->name[i] < c->nlet) usage("--set: '%s' is the name of a --let", name);
    int column = csv_find(c->scope.t, name);
    if (column >= 0) c->place[column] = (int)c->name[i];
}

static bool replaces(const struct calc *c, size_t name)
{
    for (int k = 0; k < csv_ncol(c->scope.t); k++) if (c->place[k] == (int)name) return true;
    return false;
}

void calc_compile(struct calc *c, const struct list *lets, const struct list *sets, const struct list *wheres)
{
    define_lets(&c->scope, lets);
    c->nlet = c->scope.names.n;
    c->nset = (size_t)sets->n;
    c->nwhere = (size_t)wheres->n;
    c->set = xcalloc(c->nset, sizeof(expr *));
    c->name = xcalloc(c->nset, sizeof *c->name);
    c->where = xcalloc(c->nwhere, sizeof(expr *));
    c->place = xcalloc((size_t)csv_ncol(c->scope.t), sizeof *c->place);
    for (int k = 0; k < csv_ncol(c->scope.t); k++) c->place[k] = -1;
    for (size_t i = 0; i < c->nset; i++) compile_set(c, i, sets->v[i]);
    for (size_t i = 0; i < c->nwhere; i++) c->where[i] = expr_compile(&c->scope, "--where", wheres->v[i]);
    c->added = xcalloc(c->scope.names.n, sizeof *c->added);
    for (size_t k = c->nlet; k < c->scope.names.n; k++) if (!replaces(c, k)) c->added[c->nadded++] = k;
}

static bool all_hold(struct calc *c)
{
    for (size_t i = 0; i < c->nwhere; i++) if (!expr_holds(c->where[i], &c->scope)) return false;
    return true;
}

void calc_count(struct calc *c, expr *const *more, size_t n)
{
    while (scope_row(&c->scope)) {
        for (size_t i = 0; i < c->nset; i++) {
            expr_count(c->set[i], &c->scope);
            c->scope.named[c->name[i]] = expr_run(c->set[i], &c->scope);
        }
        for (size_t i = 0; i < c->nwhere; i++) expr_count(c->where[i], &c->scope);
        for (size_t i = 0; i < n; i++) expr_count(more[i], &c->scope);
    }
}

bool calc_next(struct calc *c)
{
    while (scope_row(&c->scope)) {
        for (size_t i = 0; i < c->nset; i++) c->scope.named[c->name[i]] = expr_run(c->set[i], &c->scope);
        if (all_hold(c)) return true;
    }
    return false;
}

void calc_names(const struct calc *c, csvw *w)
{
    csvw_copy_names(w, c->scope.t);
    for (size_t k = 0; k < c->nadded; k++) csvw_str(w, c->scope.names.name[c->added[k]]);
}

void calc_row(const struct calc *c, csvw *w)
{
    bool copy = c->nadded == c->scope.names.n - c->nlet; /* no column is replaced */
    if (copy) csvw_copy_all(w, c->scope.t);
    for (int k = 0; !copy && k < csv_ncol(c->scope.t); k++) {
        if (c->place[k] < 0) csvw_copy(w, c->scope.t, k);
        else value_write(w, &c->scope.named[c->place[k]]);
    }
    for (size_t k = 0; k < c->nadded; k++) value_write(w, &c->scope.named[c->added[k]]);
}

/* ---- what is read twice */

/* does a text call a function of that name, for all that can be said before the columns are known? */
static bool may_call(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p += n)
        if (p[n + strspn(p + n, " \t\n")] == '(') return true;
    return false;
}

off_t calc_twice(const struct list *const *texts, char **operands)
{
    bool twice = false;
    for (; *texts; texts++)
        for (int i = 0; i < (*texts)->n; i++)
            twice = twice || may_call((*texts)->v[i], "total") || may_call((*texts)->v[i], "share");
    off_t begin = reread_begin();
    for (; twice && *operands; operands++) reread_prepare(operands);
    return begin;
}
