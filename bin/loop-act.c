/* loop-act - apply actions to the nest in each row
 *
 * Usage: loop-act --do=ACTION,ACTION... [FILE]
 *
 * Columns in: problem, tree, cursor (a missing or empty tree is the
 * untiled nest), actions (those taken so far).  Columns out: all,
 * with these brought up to date or added: tree, cursor, mask, actions, done
 * (how many actions were legal), effect (1: tree or cursor changed) and
 * refused (the first illegal action and why).  Illegal actions change
 * nothing.  Without --do the actions come from the column action of each row;
 * without that, too, none is taken: the nests with what may be done to them.
 * Order is kept.  Constant memory.
 *
 * Actions: up, down: move the cursor.  swap_up, swap_down: exchange with the
 * neighbour.  split_N: into blocks of N.  merge: into the loop of the same
 * variable above.  unroll, vectorize, pack_a, pack_b (copy the block
 * of an input together inside this loop): toggle a mark.  undo: take
 * back the last action that is in the column actions.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64 --n=64 --k=64 |
 *     loop-act --do=split_8,down,swap_down
 */
#include "base/filter.h"
#include "loop/nest/rows.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ACTIONS = 4096 };
static const char *todo;
static bool published;
static const struct opt options[] = {
    { 0, "do", STR, &todo, "ACTIONS", "actions, separated by commas" },
    { 0, "as-published", FLAG, &published, NULL, "legality as published: 10 loops, innermost a multiple of 8" },
    { 0 } };

static int history[MAX_ACTIONS], nhistory;

/* undo is applied here, since it needs the history; everything else is nest_act */
static int run(struct nest_rows *r, str list, const char *where, struct buf *refused)
{
    int legal = 0, had = nhistory;
    struct nest start = r->nest;
    for (size_t i = 0, k; i < list.n; i = k + 1) {
        for (k = i; k < list.n && list.s[k] != ',' && list.s[k] != ' '; k++) {}
        str name = { list.s + i, k - i };
        const char *why = NULL;
        int a;
        if (!name.n) continue;
        if (str_is(name, "undo")) {
            if (nhistory) {
                if (--nhistory < had) nest_reset(&r->p, &start), had = 0;
                r->nest = start;
                for (int j = had; j < nhistory; j++) nest_act(&r->p, &r->nest, history[j], RULE_NONE);
            } else {
                why = "nothing to undo";
            }
        } else {
            actions_parse(&a, 1, name, where);
            why = nest_act(&r->p, &r->nest, a, published ? RULE_PUBLISHED : RULE_NONE);
            if (!why && nhistory == MAX_ACTIONS) die("%s: more than %d actions", where, MAX_ACTIONS);
            if (!why) history[nhistory++] = a;
        }
        legal += !why;
        if (why && !refused->n) buf_format(refused, "%.*s: %s", (int)name.n, name.s, why);
    }
    return legal;
}

int main(int argc, char **argv)
{
    int first = filter_init(argc, argv, help, options);
    struct nest_rows r;
    csv *t = csv_open(filter_operand(argc, argv, first));
    rows_open(&r, t, false);
    enum { TREE, CURSOR, MASK, ACTIONS, DONE, EFFECT, REFUSED, NEW };
    static const char *const names[NEW] = { "tree", "cursor", "mask", "actions", "done", "effect", "refused" };
    int col[NEW], action = todo ? -1 : csv_find(t, "action");
    csvw *w = csvw_open("-");
    csvw_copy_names(w, t);
    for (int i = 0; i < NEW; i++)
        if ((col[i] = csv_find(t, names[i])) < 0) csvw_cstr(w, names[i]);
    csvw_end(w);
    struct buf refused = { 0 }, taken = { 0 };
    while (rows_next(&r)) {
        char where[600], b[40];
        struct nest before = r.nest;
        snprintf(where, sizeof where, "%s:%zu: %s", csv_file(t), csv_line(t), todo ? "--do" : "column 'action'");
        refused.n = taken.n = 0;
        nhistory = col[ACTIONS] < 0 ? 0 : rows_actions(t, col[ACTIONS], history, MAX_ACTIONS);
        int legal = run(&r, todo ? str_of(todo) : action >= 0 ? csv_str(t, action) : str_of(""), where, &refused);
        for (int i = 0; i < nhistory; i++) buf_format(&taken, "%s%s", i ? " " : "", act_name(history[i], b));
        for (int pass = 0; pass < 2; pass++)
            for (int c = 0; c < (pass ? NEW : csv_ncol(t)); c++) {
                int k = pass ? c : NEW;
                for (int j = 0; !pass && j < NEW; j++) if (col[j] == c) k = j;
                if (pass && col[c] >= 0) continue;
                if (k == TREE) rows_write_tree(w, &r.p, &r.nest);
                else if (k == CURSOR) csvw_int(w, r.nest.cursor);
                else if (k == MASK) rows_write_mask(w, &r.p, &r.nest, published ? RULE_PUBLISHED : RULE_NONE);
                else if (k == ACTIONS) csvw_str(w, (str){ taken.s, taken.n });
                else if (k == DONE) csvw_int(w, legal);
                else if (k == EFFECT) csvw_int(w, nest_effect(&before, &r.nest));
                else if (k == REFUSED) csvw_str(w, (str){ refused.s, refused.n });
                else csvw_copy(w, t, c);
            }
        csvw_end(w);
    }
    free(refused.s);
    free(taken.s);
    rows_close(&r);
    return csvw_close(w);
}
