/* logfiles.h - the files of a folder of logs: which are ours, and a thread's records in the order they were made in. */
#ifndef MILLRACE_LOGFILES_H
#define MILLRACE_LOGFILES_H
#include "prof/guest/logfile.h"
#include <stdbool.h>
#include <stddef.h>

enum { LOG_CHUNK = 2048 };                               /* records read at a time */
struct log_segment { bool tail; uint64_t first, n; };        /* records of a file */
struct log_source {                                      /* a thread's records, in the order in which they were made */
    const char *path;
    struct log_head head;
    struct log_segment *segment;
    size_t nsegment, segment_cap, part;                  /* part: the segment that is read */
    uint64_t at, last;                                   /* next record of it; time of the record before */
    size_t next, have;
    struct log_record chunk[LOG_CHUNK];
};
struct log_bytes { char *p; size_t n; };

struct log_bytes log_bytes_of(const char *path, size_t most);   /* of a file; none where there is none */
bool log_find_records(struct log_source *);              /* of its path; false: not a log */
void log_rewind(struct log_source *);
/* NULL at the end; *tail: it comes from the ring */
const struct log_record *log_next_record(struct log_source *, bool *tail);

/* From the heads alone: CPU time of all threads between first record and last, less the recorder's own, and how many
 * intervals were begun.  Zeros without logs. */
struct log_spent { int64_t cpu_ns; uint64_t begun; size_t threads, unclean; };
struct log_spent log_spent(const char *dir);
bool log_is_ours(const char *file);                      /* a name that the recorder gives to files in its directory */
void log_remove(const char *dir);                        /* all of those */
#endif
