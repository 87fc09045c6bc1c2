/* millrace_prof.h - name the operations of a C or C++ program, and record its own events, in the recorder's logs.
 *
 * Link with -lmillrace-prof.  Records go to the folder of prof-record (MILLRACE_PROF_DIR), or to that of
 * millrace_prof_start; without either nothing is recorded and every call does nothing.  Read them with prof-log,
 * prof-top.  All functions may be called from any thread; ids and operations belong to the thread. */
#ifndef MILLRACE_PROF_H
#define MILLRACE_PROF_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

int millrace_prof_start(const char *folder);             /* made if missing; 0, or -1 with a message on stderr */
void millrace_prof_enable(void);                         /* record from here on (prof-record does, unless --wait) */
void millrace_prof_disable(void);
void millrace_prof_push_operation(const char *name);     /* they nest, per thread */
void millrace_prof_pop_operation(void);                  /* the innermost; none is open: nothing */
/* A piece of work: category as in prof-top (Backend, Simulator, C, Waiting ..); begin and end nest. */
uint32_t millrace_prof_id(const char *category, const char *name);   /* for the two below; costs a lock and a search */
void millrace_prof_begin(uint32_t id);
void millrace_prof_end(uint32_t id);
/* One that is over: started at a time of millrace_prof_now(), ends now; nothing else was recorded in between. */
uint64_t millrace_prof_now(void);
void millrace_prof_record_event(uint32_t id, uint64_t started);

#ifdef __cplusplus
}
namespace millrace {
/* an operation for as long as this object lives */
class Operation {
public:
    explicit Operation(const char *name) { millrace_prof_push_operation(name); }
    ~Operation() { millrace_prof_pop_operation(); }
    Operation(const Operation &) = delete;
    Operation &operator=(const Operation &) = delete;
};
}
#endif
#endif
