/* fit-cartpole - learn to balance a pole on a cart, by deep Q-learning
 *
 * Usage: fit-cartpole [--seed=N] [--plain] [-o POLICY] > curve.csv
 *
 * The task by which learners are compared: a reward of 1 for each of at most
 * 500 steps; solved when 100 episodes without exploration, from fresh starts,
 * return 475 or more on average.  Columns out: episode, steps, updates,
 * phase, return, explore, loss.  phase is train for an episode of learning
 * and greedy for the mean of 100 episodes without exploration, tried every
 * --every episodes (with 10 first, the rest only when these look solved, so
 * a greedy row may stand for 10).  Ends when it is solved or after --steps;
 * a note on stderr says which.  The network is 4-128-128-2; hyper-parameters
 * not given here are those of dqn_defaults in lib/learn/dqn.c.
 * With --plain: no double targets, dueling, priorities and n-step returns.
 * The same seed gives the same rows.
 *
 * Examples:
 *   $ fit-cartpole --seed=3 > curve.csv
 */
#include "base/filter.h"
#include "base/progress.h"
#include "learn/cartpole.h"
#include "table/csvio.h"
#include HELP
#include <math.h>

enum { TRIALS = 100, FIRST = 10 };
static const double SOLVED = 475;
static long seed = 1, steps = 200000, every = 10;
static bool plain;
static const char *output;
static const struct opt options[] = {
    { 's', "seed", INT, &seed, "N", "of the network, the starts and the exploration", 0, 0 },
    { 'n', "steps", INT, &steps, "N", "learn from so many steps at most", 1, 1e9 },
    { 0, "every", INT, &every, "N", "episodes between trials without exploration", 1, 1e6 },
    { 0, "plain", FLAG, &plain, NULL, "the Q-learning of 2015, without later additions", 0, 0 },
    { 'o', "output", STR, &output, "FILE", "write the network there", 0, 0 },
    { 0, NULL, 0, NULL, NULL, NULL, 0, 0 } };

static double trial(struct dqn *q, struct rng *r)
{
    double sum = 0;
    for (int i = 0; i < FIRST; i++) sum += dqn_greedy(q, r);
    if (sum < SOLVED * FIRST) return sum / FIRST;
    for (int i = FIRST; i < TRIALS; i++) sum += dqn_greedy(q, r);
    return sum / TRIALS;
}

static void row(csvw *w, const struct dqn *q, const char *phase, double total, double loss)
{
    csvw_int(w, q->episodes);
    csvw_int(w, q->steps);
    csvw_int(w, q->updates);
    csvw_cstr(w, phase);
    csvw_num(w, total);
    csvw_num(w, *phase == 't' ? dqn_explore(q) : 0);
    csvw_known(w, loss);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    if (filter_init(argc, argv, help, options) < argc) usage("no operands are taken");
    struct cartpole pole;
    struct environment env = cartpole_environment(&pole);
    struct dqn_options o = dqn_defaults();
    o.seed = (uint64_t)seed;
    if (plain) o.twin = o.dueling = false, o.nstep = 1, o.priority = 0;
    struct dqn *q = dqn_new(&env, &o);
    struct rng r = rng_for(o.seed, str_of("trial"));
    csvw *w = csvw_open("-");
    csvw_names(w, "episode,steps,updates,phase,return,explore,loss");
    csvw_end(w);
    progress_start("steps", (double)steps);
    double mean = 0;
    while (q->steps < steps && mean < SOLVED) {
        struct dqn_episode e = dqn_episode(q);
        row(w, q, "train", e.total, e.loss);
        if (q->updates && q->episodes % every == 0) row(w, q, "greedy", mean = trial(q, &r), NAN);
        progress((double)q->steps, "return %.0f", e.total);
    }
    progress_end();
    if (!quiet)
        warn("%s after %ld episodes, %ld steps, %ld updates: mean return %g", mean < SOLVED ? "not solved" : "solved",
             q->episodes, q->steps, q->updates, mean);
    if (output) {
        sexpw *s = sexpw_open(output);
        qnet_write(&q->online, s);
        sexpw_close(s);
    }
    dqn_free(q);
    return csvw_close(w);
}
