/* place_model.h - for tests: a profile of every placement of every kernel by a machine model, and of copies. */
#include "base/rng.h"
#include "place/cost.h"
#include "place/plan.h"
#include "place/profile.h"
#include "table/csvio.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* fetch, write_out: bytes a second; copies of `least` bytes and of four times as many, up to `most`; lost: what kernels
 * lose by a second of copies beside them */
static struct profile *model_profile(const struct graph *g, const char *machine, double fetch, double write_out,
                                     uint64_t least, uint64_t most, double lost)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/place-model-%ld.csv", (long)getpid());
    csvw *w = csvw_open(path);
    csvw_names(w, PROFILE_COLUMNS);
    csvw_end(w);
    for (int k = 0; k < g->nkernel; k++) {
        const struct node *n = &g->node[g->kernel[k].node];
        uint32_t slow = 0, may = g->kernel[k].movable;
        for (int i = 0; i < n->nin + n->nout; i++) may |= (uint32_t)graph_offloadable(g, n->operand[i]) << i;
        do {
            profile_row(w, g, k, slow, slow ? 1 : 0, slow ? 8192 : 0,
                        machine_time(machine_find(machine), g, g->kernel[k].node, slow), 0, "model", "simulated");
            csvw_end(w);
            slow = (slow - may) & may;
        } while (slow);
    }
    for (int to_fast = 0; to_fast < 2; to_fast++) {
        profile_interference_row(w, NULL, to_fast, lost, 0, "model", "simulated");
        csvw_end(w);
    }
    for (uint64_t bytes = least; bytes <= most; bytes *= 4)
        for (int to_fast = 0; to_fast < 2; to_fast++) {
            profile_move_row(w, bytes, to_fast, (double)bytes / (to_fast ? fetch : write_out), 0, "model", "simulated");
            csvw_end(w);
        }
    csvw_close(w);
    struct profile *p = profile_read(path);
    unlink(path);
    return p;
}

/* to be changed and judged: stays, moves and choices of its own, the rest shared */
static inline struct plan *plan_copy(const struct plan *p, const struct graph *g)
{
    struct plan *c = plan_new(g, p->formulation);
    struct plan fresh = *c;
    *c = *p;
    c->text = fresh.text;
    c->node = fresh.node;
    memcpy(c->node, p->node, (size_t)p->nnode * sizeof *p->node);
    c->stay = xmalloc((size_t)p->nstay + 1, sizeof *c->stay);
    c->move = xmalloc((size_t)p->nmove + 1, sizeof *c->move);
    memcpy(c->stay, p->stay, (size_t)p->nstay * sizeof *p->stay);
    memcpy(c->move, p->move, (size_t)p->nmove * sizeof *p->move);
    return c;
}

/* another tier for an operand that may move or be offloaded, drawn */
static inline void flip_letter(struct plan *p, const struct graph *g, struct rng *r)
{
    for (;;) {
        int n = (int)rng_below(r, (uint64_t)p->nnode), nin = g->node[n].nin;
        int k = (int)rng_below(r, (uint64_t)(nin + g->node[n].nout));
        if (!graph_movable(g, g->node[n].operand[k]) && !graph_offloadable(g, g->node[n].operand[k])) continue;
        struct plan_node *d = &p->node[n];
        const char *old = k < nin ? d->in_tiers : d->out_tiers;
        char *text = arena_copy(&p->text, old, strlen(old));
        text[k < nin ? k : k - nin] ^= 'D' ^ 'P';
        *(k < nin ? &d->in_tiers : &d->out_tiers) = text;
        return;
    }
}
