/* join.h - which post a wait was for: rows of kind link, matched by key.
 *
 * What has an amount is a stream, first in, first out: a wait is for the post that brought its last byte or item, by
 * the sums of what was taken and posted before.  As much as was there in the beginning (free places of a queue) is the
 * least that makes all waits possible.  Anything else is for the last post before the wait's end. */
#ifndef MILLRACE_JOIN_H
#define MILLRACE_JOIN_H
#include <stddef.h>
#include <stdint.h>

enum { JOIN_NONE = UINT32_MAX };
struct join {
    int64_t time;                                        /* of a post, or when a wait ended */
    uint64_t amount;
    uint32_t key, node, what, of;                        /* but for the key: the caller's own */
    uint32_t thread;                                     /* no wait was for a post of its own thread, but of a stream */
    uint32_t post;                                       /* of a wait: number of the post, or JOIN_NONE */
    uint8_t is_post, peek;                               /* peek: a wait that takes nothing */
};
void join_match(struct join *, size_t n);                /* sorts them by key and time */
#endif
