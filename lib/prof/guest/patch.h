/* patch.h - where stubs are put, and what lies where: the half of see.h that runs once for each function, and the table
 * of functions that it shares with the half that runs at each call. */
#ifndef MILLRACE_PATCH_H
#define MILLRACE_PATCH_H
#include "prof/guest/see.h"

#define HIDDEN __attribute__((visibility("hidden")))
enum { FUNCTIONS = 65536 };
enum { INTERPRETER, LIBC, EXTENSION, UNKNOWN };

/* 64 bytes, the first and `left` known to the assembly.  left: so many of the next calls are only counted, of `drawn`
 * when they were last told; since: when the first of `seen` short calls in a row began, `need` of which make it hot */
struct function {
    void *real;
    const char *owner, *name;
    uint32_t id;
    uint8_t category;
    bool is_hot;
    uint16_t hot;                                        /* its place in the table, for good; 0: none yet */
    int32_t left, drawn;
    uint64_t since;
    uint32_t seen, need, unused[2];
};
extern struct function see_function[FUNCTIONS] HIDDEN;
extern uint32_t patch_functions HIDDEN;                  /* so many are used, from 1 */
/* standard: of Python's own library */
struct patch_range { uintptr_t from, to; int kind; bool standard; char name[64]; };

void patch_look(void);                                   /* find the ranges of what is loaded now */
const struct patch_range *patch_range(uintptr_t);        /* NULL: nobody's */
const unsigned char *patch_stub(uint32_t function);
const char *patch_category(const struct function *);
#endif
