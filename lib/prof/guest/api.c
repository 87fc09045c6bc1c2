/* api.c - see millrace_prof.h */
#include "prof/guest/millrace_prof.h"
#include "prof/guest/rec.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
struct known { char *text; uint32_t id; };               /* kind, category, name, each with its 0 */
static struct known *known;
static size_t nknown, known_cap;
static __thread struct { uint32_t *id; size_t n, cap; bool *recorded; } ops;

static void from_environment(void)
{
    const char *dir = getenv("MILLRACE_PROF_DIR"), *wait = getenv("MILLRACE_PROF_WAIT");
    if (rec_dir() || !dir || !*dir) return;              /* the extension or the preload library is recording */
    if (rec_start(dir) && wait && strcmp(wait, "1") == 0) rec_on = false;
}

static bool started(void)
{
    pthread_once(&once, from_environment);
    return rec_on;
}

static uint32_t id_of(const char *kind, const char *category, const char *name)
{
    char text[512];
    int n = snprintf(text, sizeof text, "%s%c%s%c%s", kind, 0, category, 0, name);
    if (n < 0) return 0;
    size_t size = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    uint32_t id = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < nknown && !id; i++) if (memcmp(known[i].text, text, size + 1) == 0) id = known[i].id;
    if (!id) {
        id = rec_name(kind, category, "", name);
        if (nknown == known_cap) {
            size_t cap = known_cap ? 2 * known_cap : 64;
            struct known *v = realloc(known, cap * sizeof *v);
            if (v) {
                known = v;
                known_cap = cap;
            }
        }
        char *copy = nknown < known_cap ? calloc(1, sizeof text) : NULL;
        if (copy) {
            memcpy(copy, text, size);
            known[nknown++] = (struct known){ copy, id };
        }
    }
    pthread_mutex_unlock(&lock);
    return id;
}

int millrace_prof_start(const char *folder)
{
    pthread_once(&once, from_environment);
    return rec_dir() || rec_start(folder) ? 0 : -1;
}

void millrace_prof_enable(void)
{
    pthread_once(&once, from_environment);
    if (!rec_dir() || rec_on) return;
    rec_on = true;
    rec_ready();
    rec_put(LOG_ON, 0, HOOK_NONE);
}

void millrace_prof_disable(void)
{
    if (!started()) return;
    rec_put(LOG_OFF, 0, HOOK_NONE);
    rec_stop();
    rec_on = false;
}

void millrace_prof_push_operation(const char *name)
{
    bool on = started();
    if (ops.n == ops.cap) {
        size_t cap = ops.cap ? 2 * ops.cap : 16;
        uint32_t *id = realloc(ops.id, cap * sizeof *id);
        if (id) ops.id = id;
        bool *recorded = realloc(ops.recorded, cap * sizeof *recorded);
        if (recorded) ops.recorded = recorded;
        if (!id || !recorded) abort();
        ops.cap = cap;
    }
    uint32_t id = on ? id_of("op", "", name) : 0;
    ops.recorded[ops.n] = on;
    ops.id[ops.n++] = id;
    if (on) rec_put(LOG_OP, id, HOOK_OP);
}

void millrace_prof_pop_operation(void)
{
    if (!ops.n) return;
    ops.n--;
    if (ops.recorded[ops.n] && rec_on) rec_put(LOG_OP_END, ops.id[ops.n], HOOK_OP);
}

uint32_t millrace_prof_id(const char *category, const char *name)
{
    pthread_once(&once, from_environment);
    return rec_dir() ? id_of("c", category, name) : 0;
}

void millrace_prof_begin(uint32_t id)
{
    if (rec_on) rec_put(LOG_CALL, id, HOOK_WRAP);
}

void millrace_prof_end(uint32_t id)
{
    if (!rec_on) return;
    uint64_t t = rec_now();
    rec_put_at(LOG_RETURN, id, HOOK_WRAP, t);
}

uint64_t millrace_prof_now(void)
{
    return rec_now();
}

void millrace_prof_record_event(uint32_t id, uint64_t started_at)
{
    if (!rec_on) return;
    uint64_t t = rec_now();
    rec_put_at(LOG_CALL, id, HOOK_WRAP, started_at < t ? started_at : t);
    rec_put_at(LOG_RETURN, id, HOOK_WRAP, t);
}
