#include "loop/nest/rows.h"
#include "base/mem.h"
#include "base/message.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

void rows_open(struct nest_rows *r, csv *t, bool need_tree)
{
    *r = (struct nest_rows){ .t = t };
    r->problem = csv_need(t, "problem");
    r->tree = need_tree ? csv_need(t, "tree") : csv_find(t, "tree");
    r->cursor = csv_find(t, "cursor");
}

bool rows_next(struct nest_rows *r)
{
    if (!csv_next(r->t)) return false;
    char where[512];
    str s = csv_str(r->t, r->problem);
    r->fresh = !r->last.s || !str_eq(s, (str){ r->last.s, r->last.n });
    if (r->fresh) {
        snprintf(where, sizeof where, "%s:%zu: column 'problem'", csv_file(r->t), csv_line(r->t));
        problem_parse(&r->p, s, where);
        r->last.n = 0;
        buf_str(&r->last, s);
    }
    if (r->tree < 0 || !csv_has(r->t, r->tree)) {
        nest_reset(&r->p, &r->nest);
        return true;
    }
    int64_t cursor = r->cursor >= 0 && csv_has(r->t, r->cursor) ? csv_int(r->t, r->cursor) : 0;
    if (cursor < 0 || cursor >= NEST_LOOPS) csv_die(r->t, r->cursor, "the number of a loop");
    snprintf(where, sizeof where, "%s:%zu: column 'tree'", csv_file(r->t), csv_line(r->t));
    nest_parse(&r->nest, &r->p, csv_str(r->t, r->tree), (int)cursor, where);
    return true;
}

void rows_close(struct nest_rows *r)
{
    csv_close(r->t);
    free(r->last.s);
}

void rows_write_tree(csvw *w, const struct problem *p, const struct nest *t)
{
    static struct buf b;
    b.n = 0;
    nest_print(&b, p, t);
    csvw_str(w, (str){ b.s, b.n });
}

void rows_write_mask(csvw *w, const struct problem *p, const struct nest *t, unsigned rules)
{
    static struct buf b;
    char name[40];
    uint32_t mask = nest_mask(p, t, rules);
    b.n = 0;
    for (int a = 0; a < ACT_COUNT; a++)
        if (mask >> a & 1) buf_format(&b, "%s%s", b.n ? " " : "", act_name(a, name));
    csvw_str(w, (str){ b.s, b.n });
}

void rows_write_path(csvw *w, const struct problem *p, const char *algo, const int *path, int n, const double *gflops,
                     const double *seconds, bool model)
{
    struct nest t;
    char b[40];
    nest_reset(p, &t);
    for (int i = 0; i <= n; i++) {
        if (i) nest_act(p, &t, path[i - 1], RULE_NONE);
        csvw_cstr(w, p->text);
        csvw_cstr(w, algo);
        csvw_int(w, i);
        csvw_cstr(w, i ? act_name(path[i - 1], b) : "");
        rows_write_tree(w, p, &t);
        csvw_known(w, gflops[i]);
        csvw_known(w, seconds[i]);
        csvw_cstr(w, model ? "simulated" : "real");
        csvw_end(w);
    }
    csvw_flush(w);
}

csvw *rows_resume(const char *path, const char *columns, const char *algo, struct intern *done)
{
    if (strpbrk(algo, ",\"\r\n")) die("%s: '%s' names rows; without comma, quote or end of line", path, algo);
    FILE *f = fopen(path, "r+");
    if (f && flock(fileno(f), LOCK_EX | LOCK_NB)) die("%s: another process is writing it", path);
    char *line = NULL;
    size_t room = 0, names = strlen(columns), name = strlen(algo);
    off_t at = 0, keep = 0;
    struct buf last = { 0 };
    for (size_t n = 1; f; n++) {
        ssize_t len = text_line(f, path, &line, &room);
        if (len < 0) break;
        bool whole = line[len - 1] == '\n';
        const char *comma = strchr(line, ',');
        if (n == 1 && ((size_t)len != names + 1 || memcmp(line, columns, names)))
            die_at(path, 1, "not the rows of a search: its header is not '%s'", columns);
        if (n > 1 && whole && (!comma || strncmp(comma + 1, algo, name) || comma[1 + name] != ','))
            die_at(path, n, "not a row of %s; give another file", algo);
        str problem = { line, n > 1 && whole ? (size_t)(comma - line) : 0 }, before = { last.s, last.n };
        if (problem.n && !(last.n && str_eq(problem, before))) {
            if (last.n) intern(done, before);            /* another one began: it is complete */
            keep = at;
            last.n = 0;
            buf_str(&last, problem);
        }
        at += len;
        if (n == 1) keep = at;
    }
    free(line);
    free(last.s);
    if (f && ftruncate(fileno(f), keep)) die_errno("%s", path);
    csvw *w = csvw_append(path, columns);
    if (f) return w;                                     /* stays open: it holds the lock */
    f = fopen(path, "r");
    if (!f || flock(fileno(f), LOCK_EX | LOCK_NB)) die("%s: another process is writing it", path);
    return w;
}

int actions_parse(int *actions, int max, str list, const char *where)
{
    int n = 0;
    for (size_t i = 0; i < list.n; ) {
        size_t k = i;
        while (k < list.n && list.s[k] != ',' && list.s[k] != ' ') k++;
        if (k > i) {
            int a = act_of((str){ list.s + i, k - i });
            if (a < 0)
                die("%s: unknown action '%.*s'; known: up down swap_up swap_down split_N merge unroll vectorize "
                    "pack_a pack_b",
                    where, (int)(k - i), list.s + i);
            if (n == max) die("%s: more than %d actions", where, max);
            actions[n++] = a;
        }
        i = k + 1;
    }
    return n;
}

int rows_actions(csv *t, int column, int *actions, int max)
{
    char where[600];
    snprintf(where, sizeof where, "%s:%zu: column 'actions'", csv_file(t), csv_line(t));
    return actions_parse(actions, max, csv_str(t, column), where);
}
