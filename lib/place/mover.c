/* mover.c - see mover.h */
#include "place/mover.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/rng.h"
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 4 << 20 };                                /* a millisecond or two of a disk */

struct mover {
    struct tier *tier;
    const struct copy *copy;
    int n, first;                                        /* copies below `first` are over */
    size_t *left;                                        /* bytes of each copy that are not there yet */
    int node;                                            /* the nodes below are done; -1: between steps */
    int wake;                                            /* asleep until this node; INT_MAX: awake, or all is over */
    bool over;
    unsigned delay;
    struct rng rng;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change, done;
};

/* the first copy that may be under way; n: none.  A fetch may take the bytes that a write-out is to leave. */
static int choose(const struct mover *m)
{
    int out = INT_MAX;
    for (int i = m->first; i < m->n; i++) {
        const struct copy *c = &m->copy[i];
        if (m->left[i] == 0) continue;
        if (c->begin <= m->node && !(c->to_fast && out <= c->begin)) return i;
        if (!c->to_fast && c->before < out) out = c->before;
    }
    return m->n;
}

/* The node at which a copy may begin, when none may now.  (A fetch that has to wait for a write-out may when that is
 * over, so when it has begun.)  A signal for each node would cost the kernels 7 us each. */
static int next_begin(const struct mover *m)
{
    int next = INT_MAX;
    for (int i = m->first; i < m->n; i++)
        if (m->left[i] > 0 && m->copy[i].begin > m->node && m->copy[i].begin < next) next = m->copy[i].begin;
    return next;
}

static void make_piece(struct mover *m, const struct copy *c, size_t at, size_t bytes)
{
    if (m->delay > 0) {
        if (c->to_fast) memset(c->fast + at, 0xff, bytes);
        usleep((useconds_t)rng_below(&m->rng, m->delay));
    }
    tier_copy(m->tier, !c->to_fast, c->fast + at, c->offset + at, bytes);
}

static void *work(void *arg)
{
    struct mover *m = arg;
    pthread_mutex_lock(&m->lock);
    while (!m->over) {
        int i = choose(m);
        if (i == m->n) {
            m->wake = next_begin(m);
            pthread_cond_wait(&m->change, &m->lock);
            m->wake = INT_MAX;
            continue;
        }
        const struct copy *c = &m->copy[i];
        size_t bytes = m->left[i] < PIECE ? m->left[i] : PIECE;
        pthread_mutex_unlock(&m->lock);
        make_piece(m, c, c->bytes - m->left[i], bytes);
        pthread_mutex_lock(&m->lock);
        m->left[i] -= bytes;
        while (m->first < m->n && m->left[m->first] == 0) m->first++;
        pthread_cond_signal(&m->done);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

struct mover *mover_start(struct tier *tier, const struct copy *copy, int n, unsigned delay)
{
    struct mover *m = xcalloc(1, sizeof *m);
    *m = (struct mover){ .tier = tier, .copy = copy, .n = n, .first = n, .node = -1, .wake = INT_MAX, .delay = delay };
    m->left = xcalloc((size_t)n + 1, sizeof *m->left);
    m->rng = rng_for(1, str_of("mover"));
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->change, NULL);
    pthread_cond_init(&m->done, NULL);
    if (pthread_create(&m->thread, NULL, work, m)) die("cannot start a thread");
    return m;
}

void mover_begin(struct mover *m)
{
    pthread_mutex_lock(&m->lock);
    for (int i = 0; i < m->n; i++) m->left[i] = m->copy[i].bytes;
    m->first = 0;
    m->node = -1;
    m->wake = next_begin(m);
    pthread_mutex_unlock(&m->lock);
}

void mover_reach(struct mover *m, int node)
{
    pthread_mutex_lock(&m->lock);
    m->node = node;
    if (node >= m->wake) {
        m->wake = INT_MAX;
        pthread_cond_signal(&m->change);
    }
    for (int i = m->first; i < m->n && m->copy[i].before <= node; i++)
        while (m->left[i] > 0) pthread_cond_wait(&m->done, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

void mover_stop(struct mover *m)
{
    if (!m) return;
    pthread_mutex_lock(&m->lock);
    m->over = true;
    pthread_cond_signal(&m->change);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->change);
    pthread_cond_destroy(&m->done);
    free(m->left);
    free(m);
}
