/* pace.h - has this core its full pace?  Who shares it may slow down some instructions for seconds, and no clock tells:
 * on one virtual machine loads of AMX tiles took four times as long in a third of all looks. */
#ifndef MILLRACE_PACE_H
#define MILLRACE_PACE_H
#include <stdbool.h>

struct pace {
    bool (*slow)(void);                                  /* a short look; NULL: always at full pace */
    double left;                                         /* seconds of patience */
};

/* Are runs that took so many seconds, just now, to be made again?  Waits until the pace is full; that and the seconds
 * are taken from the patience.  Not any more when none is left. */
bool pace_again(struct pace *, double seconds);
#endif
