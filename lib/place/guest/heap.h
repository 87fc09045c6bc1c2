/* heap.h - memory for large blocks that keeps few holes and says exactly how much of it is resident.
 *
 * Preloaded, it serves posix_memalign() of 64 KiB and more (what PyTorch allocates tensors with); everything else is
 * left to the allocator behind it.  Blocks begin at a page, lie at the lowest address that has room (first fit by
 * address: Wilson et al. 1995) and are merged when they are freed.  Memory is taken in pieces of 2 MiB, huge pages
 * where the system has them, and is kept for the next block until the cap is reached: above it free pieces go back to
 * the system, the highest first, before new ones are touched.  Without preloading the functions below work too. */
#ifndef MILLRACE_HEAP_H
#define MILLRACE_HEAP_H
#include <stddef.h>

void *heap_take(size_t bytes);                           /* NULL: no room */
void *heap_take_aside(size_t bytes);                     /* the same, not counted by heap_most() */
void heap_give(void *);
int heap_preloaded(void);                                /* 1: posix_memalign() comes here, preloaded or adopted */
int heap_adopt(const char *library);                     /* 1: that of this loaded library does, from now on */
size_t heap_used(void);                                  /* bytes of blocks in use, whole pages */
size_t heap_most(void);                                  /* the most of that since the last call */
size_t heap_resident(void);                              /* bytes touched, holes included */
void heap_cap(size_t bytes);                             /* 0, the start: everything is kept */
void heap_bound(size_t bytes);                           /* blocks are refused above it; 0, the start: none */
size_t heap_refused(void);                               /* bytes that the first one refused would have made, or 0 */
#endif
