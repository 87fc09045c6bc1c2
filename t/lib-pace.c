/* Whether a core has its full pace, by a fake clock. */
#include "loop/code/evaluate.h"
#include "measure/clock.h"
#include "tap.h"

enum { TICK = 1000000 };
static int64_t now, slow_until;

static int64_t ticking(void)
{
    return now += now < slow_until ? 4 * TICK : TICK;
}

static bool slow(void)
{
    return ticking() < slow_until;
}

static void waits(void)
{
    struct pace p = { .left = 1 };
    ok(!pace_again(&p, 0.5) && p.left == 1, "without a look no run is made again");
    p.slow = slow;
    ok(!pace_again(&p, 0.5) && p.left == 1, "nor at full pace");
    slow_until = now + 300 * TICK;
    double stays = (double)(slow_until - now) * 1e-9;
    ok(pace_again(&p, 0.5), "runs of a slow core are made again");
    near(p.left, 1 - 0.5 - stays, 0.02, "when it is over, which costs patience, as the runs do");
    slow_until = INT64_MAX, p.left = 0.6;
    int64_t began = now;
    ok(pace_again(&p, 0.5) && p.left <= 0, "or when patience ends");
    near((double)(now - began) * 1e-9, 0.1, 0.03, "which is then");
    ok(!pace_again(&p, 0.5), "and is not there for more");
    slow_until = 0;
}

/* a nest that ran while the core was slow runs again */
static void nests(void)
{
    struct problem p;
    struct evaluator v;
    struct nest t;
    problem_parse(&p, str_of("(mm 8 8 8)"), "(mm 8 8 8)");
    nest_reset(&p, &t);
    evaluator_open(&v, ISA_AVX2, NULL);
    evaluator_problem(&v, &p);
    ok(v.pace.slow && !v.pace.slow(), "a machine that was not measured has its full pace");
    v.pace.slow = slow;
    near(evaluate_again(&v, &t, 4, 8, true).seconds, TICK * 1e-9, 1e-9, "a nest is timed");
    v.early_ratio = 3;
    slow_until = now + 200 * TICK;
    struct result r = evaluate_again(&v, &t, 4, 8, true);
    ok(r.runs == 8, "on a slow core it is not left after one run for being slow");
    near(r.seconds, TICK * 1e-9, 1e-9, "and has the time that it has at full pace");
    slow_until = INT64_MAX;
    near(evaluate_again(&v, &t, 4, 8, true).seconds, 4 * TICK * 1e-9, 1e-9, "or that of a core that stays slow");
    int64_t began = now;
    evaluate_again(&v, &t, 4, 8, false);
    ok(now - began < 100 * 4 * TICK, "which is waited for once");
    slow_until = 0;
    evaluator_close(&v);
}

int main(void)
{
    clock_fake(ticking);
    if (__builtin_cpu_supports("avx2")) nests();
    waits();
    clock_fake(NULL);
    return done();
}
