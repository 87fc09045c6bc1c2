/* loop-step - step through actions on one nest and watch tree and GFLOPS
 *
 * Usage: loop-step [--problem='(mm 128 128 128)'] [--save=FILE]
 *
 * On a terminal every key is an action: arrows or k and j move the cursor,
 * K and J swap up and down, 2 4 8 and 6 (16) 3 (32) split, m merges, u v
 * toggle unroll and vectorize, U takes back, s saves, q ends.
 * Otherwise each line of the input names an action, undo, save or quit, and
 * the view is printed after each.  The view is the tree with its cursor, the
 * GFLOPS of this nest, of the best one so far and of the untiled one, and why
 * an action was refused.  A saved nest is a table of one row: problem, tree,
 * cursor, actions.  --eval=model shows the model's GFLOPS instead.
 *
 * Examples:
 *   $ loop-step --problem='(mm 112 208 256)' --save=nest.csv
 */
#include "base/filter.h"
#include "loop/code/evaluate.h"
#include "loop/nest/rows.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { MAX_PATH = 4096, QUIT = -10, SAVE, UNDO, NOTHING };
static const char *text = "(mm 128 128 128)", *save;
static enum { RUN, MODEL } eval = RUN;
static const struct opt options[] = {
    { 0, "problem", STR, &text, "PROBLEM", "what to schedule" },
    { 0, "save", STR, &save, "FILE", "where s saves" },
    EVAL_OPTION(eval),
    { 0 } };

static struct problem p;
static struct nest now;
static int path[MAX_PATH], npath;
static double base, best;
static struct termios before;

static void restore(void)
{
    tcsetattr(0, TCSANOW, &before);
}

static void view(struct evaluator *v, const char *note, bool screen)
{
    struct buf b = { 0 };
    struct result r = evaluate(v, &now);
    if (r.gflops > best) best = r.gflops;
    if (screen) buf_format(&b, "\033[H\033[J");
    buf_format(&b, "%s\n", p.text);
    nest_show(&b, &p, &now);
    buf_format(&b, "%.1f GFLOPS, best %.1f, untiled %.1f, %d actions%s%s%s%s\n", r.gflops, best, base, npath,
               r.why ? "; no code: " : "", r.why ? r.why : "", note ? "; " : "", note ? note : "");
    if (fwrite(b.s, 1, b.n, stdout) != b.n || fflush(stdout)) die_errno("standard output");
    free(b.s);
}

static void write_nest(void)
{
    char name[40];
    struct buf b = { 0 };
    csvw *w = csvw_open(save);
    csvw_names(w, "problem,tree,cursor,actions");
    csvw_end(w);
    csvw_cstr(w, p.text);
    rows_write_tree(w, &p, &now);
    csvw_int(w, now.cursor);
    for (int i = 0; i < npath; i++) buf_format(&b, "%s%s", i ? " " : "", act_name(path[i], name));
    csvw_str(w, (str){ b.s, b.n });
    csvw_end(w);
    csvw_close(w);
    free(b.s);
}

static int key_action(void)
{
    static const char keys[] = "kjKJ24863muv";
    static const int action[] = { ACT_UP,      ACT_DOWN,      ACT_SWAP_UP,  ACT_SWAP_DOWN, ACT_SPLIT_2,
                                  ACT_SPLIT_4, ACT_SPLIT_8,   ACT_SPLIT_16, ACT_SPLIT_32,  ACT_MERGE,
                                  ACT_UNROLL,  ACT_VECTORIZE };
    char c, more[2];
    if (read(0, &c, 1) != 1 || c == 'q') return QUIT;
    if (c == 27 && read(0, more, 2) == 2) c = more[1] == 'A' ? 'k' : more[1] == 'B' ? 'j' : 0;
    const char *k = c ? strchr(keys, c) : NULL;
    return k ? action[k - keys] : c == 'U' ? UNDO : c == 's' ? SAVE : NOTHING;
}

static int line_action(void)
{
    static char *line;
    static size_t cap;
    ssize_t n = text_line(stdin, "standard input", &line, &cap);
    if (n < 0) return QUIT;
    str s = { line, strcspn(line, "\r\n") };
    int a = str_is(s, "quit") ? QUIT : str_is(s, "undo") ? UNDO : str_is(s, "save") ? SAVE : !s.n ? NOTHING : act_of(s);
    if (a == -1) die("(stdin): unknown action '%.*s'", (int)s.n, s.s);
    return a;
}

int main(int argc, char **argv)
{
    if (filter_init(argc, argv, help, options) < argc) usage("there are no operands");
    struct evaluator v;
    problem_parse(&p, str_of(text), "--problem");
    nest_reset(&p, &now);
    evaluator_open(&v, isa_best(), NULL);
    v.model = eval == MODEL;
    evaluator_problem(&v, &p);
    base = evaluate(&v, &now).gflops;
    bool screen = isatty(0) && isatty(1);
    if (screen && tcgetattr(0, &before) == 0) {
        struct termios raw = before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        atexit(restore);
        tcsetattr(0, TCSANOW, &raw);
    }
    const char *note = NULL;
    for (int a = NOTHING; a != QUIT; a = screen ? key_action() : line_action()) {
        note = NULL;
        if (a == SAVE && !save) note = "no --save given";
        else if (a == SAVE) write_nest(), note = "saved";
        else if (a == UNDO && !npath) note = "nothing to undo";
        else if (a == UNDO) {
            nest_reset(&p, &now);
            npath--;
            for (int i = 0; i < npath; i++) nest_act(&p, &now, path[i], RULE_NONE);
        } else if (a != NOTHING && npath == MAX_PATH) {
            note = "too many actions";
        } else if (a != NOTHING) {
            note = nest_act(&p, &now, a, RULE_NONE);
            if (!note) path[npath++] = a;
        }
        view(&v, note, screen);
    }
    evaluator_close(&v);
    return EXIT_OK;
}
