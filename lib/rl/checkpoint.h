/* checkpoint.h - the memory of a training as a file: complete, or absent; of this training, or refused.
 *
 * A kind and a task (a hash of everything two trainings must agree in), then items, each followed by a hash of all so
 * far, so that nothing damaged is believed.  The same calls in the same order write and read; an item read first may
 * say how long a later one is.  Written aside and renamed, so a kill leaves the file before.  Bytes as they lie in
 * memory: for the machine that wrote it. */
#ifndef MILLRACE_CHECKPOINT_H
#define MILLRACE_CHECKPOINT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checkpoint;
struct checkpoint *checkpoint_create(const char *path, const char *kind, uint64_t task);
/* NULL: there is no file.  Dies when it is no checkpoint, one of another kind or task, or damaged. */
struct checkpoint *checkpoint_open(const char *path, const char *kind, uint64_t task);
void checkpoint_item(struct checkpoint *, void *p, size_t bytes);
_Noreturn void checkpoint_damaged(const struct checkpoint *);        /* for a caller that finds an item impossible */
void checkpoint_close(struct checkpoint *);              /* writing: now it is there */
#endif
