/* lib-tier.c - what is written comes back, in whatever pieces, on every sort of tier; paced tiers keep their pace. */
#include "tensor/team.h"
#include "tensor/tier.h"
#include "base/mem.h"
#include "base/rng.h"
#include "measure/clock.h"
#include "tap.h"
#include <linux/mempolicy.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { POOL = 12 << 20 };

static void test_tier(const char *spec)
{
    struct tier *t = tier_open(spec, POOL);
    struct rng r = rng_for(7, str_of(spec));
    char *from = pages(POOL), *to = pages(POOL), name[200];
    for (int i = 0; i < POOL; i += 8) *(uint64_t *)(void *)(from + i) = rng_u64(&r);
    struct transfer out = { 0 }, in = { 0 };
    size_t unit = tier_align(t);
    for (uint64_t at = 0; at < POOL;) {
        size_t n = (1 + rng_below(&r, (3 << 20) / unit)) * unit;
        if (n > POOL - at) n = POOL - at;
        tier_start(t, &out, true, from + at, at, n);
        at += n;
    }
    tier_finish(t, &out);
    for (uint64_t at = 0; at < POOL; at += 64 * unit)
        tier_start(t, &in, false, to + at, at, POOL - at < 64 * unit ? POOL - at : 64 * unit);
    tier_finish(t, &in);
    snprintf(name, sizeof name, "%s: what was written is read", tier_method(t));
    ok(!memcmp(from, to, POOL), name);
    snprintf(name, sizeof name, "%s: bytes are counted", tier_method(t));
    ok(tier_moved(t, true) == POOL && tier_moved(t, false) == POOL, name);
    tier_finish(t, &in);
    ok(in.left == 0, "waiting for nothing returns");
    pages_free(from, POOL);
    pages_free(to, POOL);
    tier_close(t);
}

struct sum { atomic_long calls; atomic_int parts; };

static void count(void *context, int part, int parts)
{
    struct sum *s = context;
    atomic_fetch_add(&s->calls, 1);
    atomic_fetch_or(&s->parts, 1 << part);
    (void)parts;
}

int main(void)
{
    const char *build = getenv("B");
    char *file = xformat("file:%s", build ? build : "."), *buffered = xformat("%s,buffered", file);
    const char *specs[] = { "dram", file, buffered, "emu:4G,2G" };
    for (int i = 0; i < 4; i++) test_tier(specs[i]);

    struct tier *t = tier_open("emu:100M,50M", POOL);
    char *p = pages(POOL);
    double start = now_seconds();
    struct transfer x = { 0 };
    tier_start(t, &x, true, p, 0, 2 << 20);
    tier_start(t, &x, false, p + (4 << 20), 4 << 20, 2 << 20);
    tier_finish(t, &x);
    ok(now_seconds() - start >= (2 << 20) / 50e6 + (2 << 20) / 100e6,
       "a paced tier takes at least its time, one request after the other");
    ok(!strcmp(tier_kind(t), "emulated"), "and says that it is emulated");
    tier_close(t);
    int node = -1;                                       /* containers may forbid these calls */
    if (!syscall(SYS_get_mempolicy, &node, NULL, 0ul, p, (unsigned long)(MPOL_F_NODE | MPOL_F_ADDR))) {
        char *bound = pages_on_node(node, 5 << 20);
        int on = -1;
        syscall(SYS_get_mempolicy, &on, NULL, 0ul, bound + (4 << 20), (unsigned long)(MPOL_F_NODE | MPOL_F_ADDR));
        ok(on == node && bound[0] == 1, "memory bound to a node lies there");
        pages_free(bound, 5 << 20);
    } else {
        ok(true, "# skip memory bound to a node: this system does not say where memory lies");
    }
    char *paged = pages_paged(build ? build : ".", 3 << 20);
    memset(paged, 7, 3 << 20);
    ok(paged[0] == 7 && paged[(3 << 20) - 1] == 7, "memory that the system pages to a file is memory");
    pages_free(paged, 3 << 20);
    pages_free(p, POOL);

    for (int n = 1; n <= 4; n++) {
        struct team *team = team_start(n);
        struct sum s = { 0 };
        for (int i = 0; i < 1000; i++) team_run(team, count, &s);
        ok(s.calls == 1000 * n && s.parts == (1 << n) - 1, "every member of a team does its part of every call");
        team_stop(team);
    }
    free(file);
    free(buffered);
    return done();
}
