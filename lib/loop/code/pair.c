#include "loop/code/pair.h"
#include "base/message.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { SPINS = 2000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static atomic_uint asked, answered;
static bool sleeping, started;
static void (*work)(void *, int);
static void *work_data;

static void *second(void *unused)
{
    (void)unused;
    for (unsigned done = 0; ; done++) {
        for (int i = 0; i < SPINS && atomic_load(&asked) == done; i++) __builtin_ia32_pause();
        if (atomic_load(&asked) == done) {
            pthread_mutex_lock(&lock);
            sleeping = true;
            while (atomic_load(&asked) == done) pthread_cond_wait(&wake, &lock);
            sleeping = false;
            pthread_mutex_unlock(&lock);
        }
        work(work_data, 1);
        atomic_store(&answered, done + 1);
    }
    return NULL;
}

void pair_run(void (*part)(void *data, int i), void *data)
{
    if (!started) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, second, NULL)) die("cannot start a second thread");
        pthread_detach(thread);
        started = true;
    }
    work = part;
    work_data = data;
    unsigned now = atomic_load(&asked) + 1;
    pthread_mutex_lock(&lock);
    atomic_store(&asked, now);
    if (sleeping) pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    part(data, 0);
    for (long i = 0; atomic_load(&answered) != now; i++)
        if (i > SPINS) sched_yield();
        else __builtin_ia32_pause();
}
