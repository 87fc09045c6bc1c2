/* loop-train - learn which actions make loop nests fast, by deep Q-learning
 *
 * Usage: loop-train [options] -o POLICY [PROBLEMS] > curve.csv
 *
 * Columns in: problem, and split where it is there: only the rows with train
 * are learned from.  All problems in memory, and a table of at most 262144
 * states.  Columns out, a row for every 100 episodes: episode, steps,
 * updates, return, explore, loss, states, kind.  return is the mean gain in
 * GFLOPS of an episode as a share of a nominal peak (4 GHz); kind is real or
 * model.  POLICY is for loop-roll.
 * With --eval=model the same seed gives the same policy.  With --checkpoint
 * a training that was killed goes on where the file was last written, every
 * 500 episodes, and ends with the same policy; with --eval=run give --cache
 * too, so that measurements are not made again.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64:256:16 --n=64:256:16 --k=64:256:16 |
 *     loop-train --eval=model -o mm.policy > curve.csv
 */
#include "base/filter.h"
#include "base/progress.h"
#include "loop/policy.h"
#include "loop/rows.h"
#include "measure/clock.h"
#include HELP
#include <math.h>
#include <string.h>

enum { EVERY = 100 };
static const char *algo = "dqn", *output, *checkpoint, *cache, *eval = "run", *actions = "tile";
static long steps = 60000, length = 10, seed = 1;
static double seconds = 600;
static const struct opt options[] = {
    { 0, "algo", WORD, &algo, "dqn", "how to learn" },
    { 'o', "output", STR, &output, "FILE", "write the policy there" },
    { 'n', "steps", INT, &steps, "N", "actions to learn from", 1, 1e9 },
    { 0, "seconds", NUM, &seconds, "S", "end earlier after this time; then not reproducible", 0, 1e9 },
    { 0, "length", INT, &length, "N", "actions of an episode", 1, POLICY_STEPS },
    { 0, "actions", WORD, &actions, "published|tile|full", "the published seven; those and all splits; all" },
    { 0, "eval", WORD, &eval, "run|model", "measure, or ask the model" },
    { 0, "cache", STR, &cache, "FILE", "remember measurements here" },
    { 0, "checkpoint", STR, &checkpoint, "FILE", "go on from here, and write it" },
    { 's', "seed", INT, &seed, "N", "of the network, the problems and the exploration" },
    { 0 }
};

static struct buf task;                                  /* what a checkpoint must agree in */

static void read_problems(struct school *s, const char *path)
{
    struct nest_rows r;
    size_t cap = 0;
    rows_open(&r, csv_open(path), false);
    int split = csv_find(r.t, "split");
    while (rows_next(&r)) {
        if (split >= 0 && !str_is(csv_str(r.t, split), "train")) continue;
        s->p = grow(s->p, s->np + 1, &cap, sizeof *s->p);
        s->p[s->np++] = r.p;
        buf_format(&task, "%s\n", r.p.text);
    }
    rows_close(&r);
    if (!s->np) die("%s: no problem to learn from", path);
}

static void row(csvw *w, const struct dqn *q, const struct school *s, double total, double loss, long n)
{
    csvw_int(w, q->episodes);
    csvw_int(w, q->steps);
    csvw_int(w, q->updates);
    csvw_num(w, total / EVERY);
    csvw_num(w, dqn_explore(q));
    csvw_known(w, n ? loss / (double)n : NAN);
    csvw_int(w, (int64_t)s->nstate);
    csvw_cstr(w, s->v->model ? "model" : "real");
    csvw_end(w);
    csvw_flush(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!output) usage("no place for the policy given, see --output");
    struct evaluator v;
    struct school s = { .v = &v };
    read_problems(&s, filter_operand(argc, argv, i));
    evaluator_open(&v, isa_best(), cache);
    v.model = !strcmp(eval, "model");
    v.check = false;
    int last = !strcmp(actions, "published") ? ACT_PUBLISHED : !strcmp(actions, "tile") ? ACT_MERGE : ACT_PARALLEL;
    for (int a = 0; a < last; a++) s.action[s.nact++] = a;
    struct environment env = school_environment(&s, (int)length);
    struct dqn_options o = dqn_defaults();
    o.seed = (uint64_t)seed, o.hidden[0] = 256, o.capacity = 20000, o.gamma = 0.95, o.every = 4, o.rate = 5e-4;
    o.explore_steps = steps / 2, o.explore_last = 0.05, o.correction_steps = steps / o.every;
    buf_format(&task, "%s %s", eval, isa_name[v.isa]);
    struct dqn *q = dqn_new(&env, &o);
    if (checkpoint && dqn_load(q, checkpoint, task.s) && !quiet) warn("%s: goes on at step %ld", checkpoint, q->steps);
    csvw *w = csvw_open("-");
    csvw_names(w, "episode,steps,updates,return,explore,loss,states,kind");
    csvw_end(w);
    double began = now_seconds(), total = 0, loss = 0;
    long n = 0;
    progress_start("steps", (double)steps);
    while (q->steps < steps && now_seconds() - began < seconds) {
        struct dqn_episode e = dqn_episode(q);
        total += e.total;
        if (!isnan(e.loss)) loss += e.loss, n++;
        if (q->episodes % EVERY) continue;
        row(w, q, &s, total, loss, n);
        if (checkpoint && q->episodes % (5 * EVERY) == 0) dqn_save(q, checkpoint, task.s);
        progress((double)q->steps, "return %.3f", total / EVERY);
        total = loss = 0, n = 0;
    }
    progress_end();
    if (checkpoint) dqn_save(q, checkpoint, task.s);
    struct policy p = { .q = q->online, .nact = s.nact, .steps = (int)length, .gamma = o.gamma };
    memcpy(p.action, s.action, sizeof p.action);
    policy_write(&p, output);
    dqn_free(q);
    school_free(&s);
    evaluator_close(&v);
    return csvw_close(w);
}
