/* fit-cartpole - learn to balance a pole on a cart, by the learner of your choice
 *
 * Usage: fit-cartpole [--algo=NAME] [--seed=N] [-o POLICY] > curve.csv
 *
 * The task by which learners are compared: a reward of 1 for each of at most
 * 500 steps; solved when 100 episodes without exploration, from fresh starts,
 * return 475 or more on average.  Columns out: episode, steps, updates,
 * phase, return, explore, loss.  phase is train for what was learned from at
 * a time (an episode with dqn, a round of many with the others;
 * return is their mean) and greedy for the mean of 100 episodes without
 * exploration, tried every --every episodes (with 10 first, the rest only
 * when these look solved, so a greedy row may stand for 10).  explore is the
 * chance of a random action, or the entropy of the policy (ppo).
 * Ends when it is solved or after --steps; a note on stderr says
 * which.  Hyper-parameters are those of learner_defaults in lib/rl.
 * With --plain: no double targets, dueling, priorities and n-step returns.
 * The same seed and number of actors give the same rows.
 *
 * Examples:
 *   $ fit-cartpole --seed=3 > curve.csv
 *   $ fit-cartpole --algo=apex --actors=2 > curve.csv
 */
#include "base/filter.h"
#include "base/progress.h"
#include "rl/cartpole.h"
#include "rl/learner.h"
#include "table/csvio.h"
#include HELP
#include <math.h>

enum { TRIALS = 100, FIRST = 10, SEATS = 64 };
static const double SOLVED = 475;
static long seed = 1, steps = 200000, every = 10;
static bool plain;
static const char *output;
static enum learning algo = LEARN_DQN;
static long actors = 2;
static const struct opt options[] = {
    { 0, "algo", WORD, &algo, learner_words, "how to learn" },
    { 0, "actors", INT, &actors, "N", "processes of apex", 1, 16 },
    { 's', "seed", INT, &seed, "N", "of the network, the starts and the exploration" },
    { 'n', "steps", INT, &steps, "N", "end behind so many steps, or the round that holds them", 1, 1e9 },
    { 0, "every", INT, &every, "N", "episodes between trials without exploration", 1, 1e6 },
    { 0, "plain", FLAG, &plain, NULL, "the Q-learning of 2015, without later additions" },
    { 'o', "out", STR, &output, "FILE", "write the network there" },
    { 0 } };

static double trial(struct learner *q, struct rng *r)
{
    double sum = 0;
    for (int i = 0; i < FIRST; i++) sum += learner_greedy(q, r);
    if (sum < SOLVED * FIRST) return sum / FIRST;
    for (int i = FIRST; i < TRIALS; i++) sum += learner_greedy(q, r);
    return sum / TRIALS;
}

static void row(csvw *w, const struct learner *q, const char *phase, double total, double explore, double loss)
{
    csvw_int(w, q->episodes);
    csvw_int(w, q->steps);
    csvw_int(w, q->updates);
    csvw_cstr(w, phase);
    csvw_known(w, total);
    csvw_num(w, explore);
    csvw_known(w, loss);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    if (filter_init(argc, argv, help, options) < argc) usage("no operands are taken");
    struct learner_options o = learner_defaults(algo, (uint64_t)seed);
    o.actors = (int)actors;
    if (plain && (algo == LEARN_PPO)) usage("--plain is for those that learn Q");
    if (plain) o.dqn.twin = o.dqn.dueling = false, o.dqn.nstep = 1, o.dqn.priority = 0;
    static struct cartpole pole[SEATS];
    struct environment seat[SEATS];
    for (int k = 0; k < SEATS; k++) seat[k] = cartpole_environment(&pole[k]);
    if (learner_seats(&o) > SEATS)
        die("%s takes %ld poles at once, %d are there", option_word(&algo), learner_seats(&o), SEATS);
    struct learner *q = learner_new(seat, &o);
    struct rng r = rng_for((uint64_t)seed, str_of("trial"));
    csvw *w = csvw_open("-");
    csvw_names(w, "episode,steps,updates,phase,return,explore,loss");
    csvw_end(w);
    progress_start("steps", (double)steps);
    double mean = 0;
    for (long tried = 0; q->steps < steps && mean < SOLVED; ) {
        struct learner_news e = learner_advance(q);
        row(w, q, "train", e.episodes ? e.total / (double)e.episodes : NAN, e.explore, e.loss);
        if (q->updates && q->episodes / every > tried) {
            tried = q->episodes / every;
            row(w, q, "greedy", mean = trial(q, &r), 0, NAN);
        }
        progress((double)q->steps, "return %.0f", e.total / (double)e.episodes);
    }
    progress_end();
    if (!quiet)
        warn("%s after %ld episodes, %ld steps, %ld updates: mean return %g", mean < SOLVED ? "not solved" : "solved",
             q->episodes, q->steps, q->updates, mean);
    if (output) {
        sexpw *s = sexpw_open(output);
        struct agent g = learner_agent(q);
        agent_write(&g, s);
        sexpw_close(s);
    }
    learner_free(q);
    return csvw_close(w);
}
