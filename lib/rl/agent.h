/* agent.h - what was learned, as something that judges actions, and as text.
 *
 * Of values: (qnet (dueling true) (widths ...) (weights ...)), outputs are an advantage for each action and, dueling,
 * a value.  Of scores: (actor (widths ...) (weights ...)), outputs are a score for each action and a value.
 * agent_values makes comparable numbers of all: of scores, value + AGENT_HEAT log p(action), which is what the value of
 * an action is to a policy that is as soft as that (Haarnoja et al., ICML 2017). */
#ifndef MILLRACE_AGENT_H
#define MILLRACE_AGENT_H
#include "net/net.h"
#include "tree/sexp.h"
#include <stdbool.h>

static const double AGENT_HEAT = 0.05;
enum learning { LEARN_DQN, LEARN_APEX, LEARN_PPO };       /* how */
struct agent {
    enum { AGENT_VALUES, AGENT_SCORES } kind;
    bool dueling;
    int inputs, actions;
    struct net *net;                                     /* with memory: up to the cell */
};
/* x: n rows of inputs, n at most the batch; mask: n; q: n x actions */
void agent_values(const struct agent *, const float *x, const uint32_t *mask, int n, float *q);
void agent_write(const struct agent *, sexpw *);
bool agent_is(const struct sexp *, snode);               /* a list with one of the two heads */
struct agent agent_read(const struct sexp *, snode, int batch);      /* dies at file:line */
void agent_free(struct agent *);
const char *agent_differs(const struct agent *, const struct agent *);       /* in shape: NULL, or "other layers" */
void agent_copy(struct agent *to, const struct agent *from);         /* weights alone; of the same shape */
/* gradients at the values, turned in place into those at the outputs of a dueling head */
void agent_through_duel(float *d, long n, int actions, bool dueling);
#endif
