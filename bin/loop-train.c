/* loop-train - learn which actions make loop nests fast
 *
 * Usage: loop-train [--algo=NAME] [options] -o POLICY [PROBLEMS] > curve.csv
 *
 * Columns in: problem, and split where it is there: only the rows with train
 * are learned from.  All problems in memory, and a table of at most 262144
 * states.  Columns out, a row for every 100 episodes or more: algo, episode,
 * steps, updates, return, explore, loss, states, kind.  return is the mean
 * gain in GFLOPS of an episode as a share of a nominal peak (4 GHz); explore
 * the chance of a random action, or the entropy of the policy; kind is real
 * or simulated.  POLICY is for loop-roll.  states are those in the table, empty
 * where they are in the actors' own tables.
 * Algorithms: dqn (double, dueling, prioritised, n-step), apex (the same
 * with actors as processes), ppo; lib/rl says what they do.
 * With --eval=model the same seed and number of actors give the same policy.
 * What it may do, --actions: the published seven; tile: those and all splits;
 * full: all of loop-act but packing; moves: steps of several actions, such as
 * tile_8, which splits and carries the inner loop to the innermost place.
 * With moves it sees the loops around the cursor and the terms of the model,
 * the same for products and convolutions; with the others 16 loops.
 * With --checkpoint a training that was killed goes on where the file was
 * last written, about every --every seconds, and ends with the same policy
 * and the same curve, which is kept in FILE.curve; with --eval=run give
 * --cache too, so that nothing is measured again.  One that had ended goes on
 * when --steps is more.  --from begins with the network of a policy made by
 * an algorithm of its kind (dqn apex; ppo) with these --actions; problems,
 * --reward and all else may be others.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64:256:16 --n=64:256:16 --k=64:256:16 |
 *     loop-train --algo=ppo --eval=model -o mm.policy > curve.csv
 */
#include "base/filter.h"
#include "base/progress.h"
#include "rl/learner.h"
#include "loop/search/curve.h"
#include "loop/search/policy.h"
#include "measure/clock.h"
#include HELP
#include <limits.h>
#include <math.h>
#include <string.h>

enum { EVERY = 100 };
static const char *output, *checkpoint, *cache, *from;
static enum { GAIN, RATIO } reward = GAIN;
static enum repertoire_word actions = ACTIONS_TILE;
static enum { RUN, MODEL } eval = RUN;
static enum learning algo = LEARN_DQN;
static long steps = LONG_MIN, length = 10, seed = 1, actors = 2, starts;
static double seconds = 600, every = 10, entropy = NAN;
static const struct opt options[] = {
    { 0, "algo", WORD, &algo, learner_words, "how to learn" },
    { 'o', "out", STR, &output, "FILE", "write the policy there" },
    { 'n', "steps", INT, &steps, "N", "actions to learn from; by default what takes a minute or two", 1, 1e9 },
    { 0, "seconds", NUM, &seconds, "S", "end earlier after this time; then not reproducible", 0, 1e9 },
    { 0, "actors", INT, &actors, "N", "processes of apex", 1, 16 },
    { 0, "length", INT, &length, "N", "actions of an episode", 1, POLICY_STEPS },
    { 0, "actions", WORD, &actions, repertoire_words, "what it may do, see above" },
    { 0, "starts", INT, &starts, "N", "episodes begin after up to N random actions", 0, 100 },
    { 0, "entropy", NUM, &entropy, "C", "weight of the entropy at the beginning, of policy gradients", 0, 1 },
    { 0, "reward", WORD, &reward, "gain|ratio", "of GFLOPS, or its logarithm: for slow beginnings" },
    EVAL_OPTION(eval),
    CACHE_OPTION(cache),
    { 0, "checkpoint", STR, &checkpoint, "FILE", "go on from here, and write it" },
    { 0, "from", STR, &from, "POLICY", "begin with what that has learned" },
    { 0, "every", NUM, &every, "S", "seconds between checkpoints", 0, 1e9 },
    { 's', "seed", INT, &seed, "N", "of the network, the problems and the exploration" },
    { 0 } };

static double began;                                     /* seconds count from the start of the program */
static struct buf task;                                  /* what a checkpoint must agree in */

static void save(struct learner *q, const struct curve *c)
{
    curve_save(c, checkpoint);
    learner_save(q, checkpoint, task.s);
}

static void begin(struct learner *q, const struct repertoire *can)
{
    struct policy p = policy_read(from);
    bool same = p.can.moves == can->moves && p.can.nact == can->nact;
    for (int k = 0; same && k < can->nact; k++) same = p.can.action[k] == can->action[k];
    const char *why = same ? learner_begin(q, &p.g) : "other actions";
    if (why) die("%s: a policy of %s than what is to be trained", from, why);
    agent_free(&p.g);
}

static void learn(struct learner *q, const struct school *s, struct curve *c)
{
    double saved = now_seconds(), round = 0;
    struct learner_news sum = { 0 };
    long losses = 0, written = q->episodes / EVERY;
    progress_start("steps", (double)steps);
    while (q->steps < steps && now_seconds() - began + round < seconds) {    /* none that would end too late */
        double start = now_seconds();
        struct learner_news n = learner_advance(q);
        round = now_seconds() - start;
        sum.episodes += n.episodes, sum.total += n.total, sum.explore = n.explore;
        if (!isnan(n.loss)) sum.loss += n.loss, losses++;
        if (q->episodes / EVERY > written) {
            written = q->episodes / EVERY;
            double loss = losses ? sum.loss / (double)losses : NAN, states = s->nstate ? (double)s->nstate : NAN;
            double total = sum.total / (double)sum.episodes;
            curve_add(c, (struct point){ q->episodes, q->steps, q->updates, total, sum.explore, loss, states });
            progress((double)q->steps, "%s return %.3f", option_word(&algo), total);
            sum = (struct learner_news){ 0 }, losses = 0;
            if (!checkpoint || now_seconds() - saved < every) continue;
            save(q, c);
            saved = now_seconds();
        }
    }
    progress_end();
    if (checkpoint) save(q, c);
}

int main(int argc, char **argv)
{
    began = now_seconds();
    int i = filter_init(argc, argv, help, options);
    if (!output) usage("no place for the policy given, see --out");
    struct evaluator v;
    struct school s = { .v = &v };
    school_read(&s, filter_operand(argc, argv, i), &task);
    evaluator_open(&v, isa_best(), cache);
    v.model = eval == MODEL;
    v.check = false;
    s.ratio = reward == RATIO;
    s.can = repertoire_of(actions);
    s.starts = (int)starts;
    struct learner_options o = policy_learner(algo, (uint64_t)seed, (int)actors, &steps);
    if (!isnan(entropy)) o.ppo.loss.entropy = entropy;
    long nseat = learner_seats(&o);
    struct school_seat *seat = xcalloc((size_t)nseat, sizeof *seat);
    struct environment *env = xcalloc((size_t)nseat, sizeof *env);
    for (long k = 0; k < nseat; k++) env[k] = school_environment(&seat[k], &s, (int)length);
    buf_format(&task, "%s %s %s %ld %s", option_word(&eval), option_word(&reward),
               option_word(&actions), starts, isa_name[v.isa]);
    struct learner *q = learner_new(env, &o);
    if (from) begin(q, &s.can);
    bool goes_on = checkpoint && learner_load(q, checkpoint, task.s);
    if (goes_on && !quiet) warn("%s: goes on at step %ld", checkpoint, q->steps);
    sexpw *w = sexpw_open(output);                       /* before minutes of learning */
    struct curve c;
    curve_open(&c, option_word(&algo), eval == MODEL ? "simulated" : "real");
    if (goes_on) curve_recall(&c, checkpoint, q->steps);
    learn(q, &s, &c);
    struct policy p = { learner_agent(q), s.can, (int)length, policy_gamma, s.ratio };
    policy_write(&p, w);
    learner_free(q);
    school_free(&s);
    evaluator_close(&v);
    return curve_close(&c);
}
