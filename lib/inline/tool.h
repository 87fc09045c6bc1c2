/* tool.h - run a compiler: its arguments, its limits, its messages, and files for it that leave nothing behind.
 *
 * Limits on CPU time and address space keep a run-away inliner from taking the machine along; a tool that is missing,
 * fails or is killed gives a sentence, never an exit. */
#ifndef MILLRACE_TOOL_H
#define MILLRACE_TOOL_H
#include "base/str.h"
#include "inline/program.h"

struct args { char **v; size_t n, cap; };                /* zero-initialise; ends with NULL */

void arg(struct args *, const char *);                   /* not copied */
void args(struct args *, char *const *more);             /* up to its NULL; NULL: none */
void args_free(struct args *);

/* A unit's own flags, without those that the kind of build decides: -O, -g, -flto, -fPIC and -fpie, and what
 * only clang's driver reads. */
void unit_flags(struct args *, const struct unit *);
/* Does it say something to the compiler proper, so that preprocessed text needs it too: -f.., -m.., which C it is? */
bool flag_of_language(const char *);
bool flag_has_value(const char *);                       /* is the next word its value, as of -I, -include, -mllvm? */
/* How many words of w an option of the linker takes, 0: w[0] is none. */
size_t flag_of_link(char *const *w);
bool one_of(const char *const *list, const char *word);  /* the list ends with NULL */
/* Add w[0], with its value where that is w[1]: -D X as -DX.  How many words it took. */
size_t flag_take(struct args *, char *const *w);

/* Run it and free the arguments.  NULL, or a sentence on what went wrong (valid until the next call).  Standard error
 * goes to *errors, standard output to *output, when not NULL; the caller frees .s of both. */
const char *tool_run(struct args *, const char *directory, struct buf *errors, struct buf *output);

/* Did the last tool fail by the machine's fault: not started, killed, at a limit, no space, no memory?  Otherwise, when
 * it failed, it refused what it was given. */
bool tool_broke(void);

/* All of a file behind what is there; false: errno says why.  The section of that name of an ELF64 file, "" for none:
 * nothing in its header is trusted. */
bool file_read(const char *path, struct buf *);
str elf_section(const struct buf *file, const char *name);

/* An anonymous file, which other processes reach by its name while it is open: nothing to clean up after a kill. */
struct memory_file { int fd; char name[40]; };
struct memory_file memory_file(const char *label);
void memory_file_write(struct memory_file *, const struct buf *);
struct buf memory_file_read(struct memory_file *);       /* all of it, closes the file; s ends with a NUL */
#endif
