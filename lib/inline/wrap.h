/* wrap.h - stand in for a compiler: compile as asked, and leave in every object how it was made.
 *
 * The record is a line in the section .millrace.cc of the object: `compile`, the directory, the source, the flags, each
 * word quoted as for a shell.  Sections travel with objects: into archives, out of them when the linker takes a member,
 * and into the program, which so holds exactly the compilations it consists of, in the order of the link, whatever made
 * archives of them, and however often the build moved.  A program has more lines in .millrace.ld: `link`, with its
 * libraries, and for each compilation that its objects and archives held, as they were named at the link, `order`: the
 * number of the archive (0: an object), directory, source; a linker takes members out of archives in an order of its
 * own.
 * A record is read back by recorded.h.  Nothing else differs from what the compiler alone would have made: the section
 * is not loaded.  Not recorded: assembler sources, and objects of the compiler's own -flto (they are no ELF files). */
#ifndef MILLRACE_WRAP_H
#define MILLRACE_WRAP_H
#include "inline/tool.h"

#define WRAP_SECTION ".millrace.cc"
#define WRAP_LINK_SECTION ".millrace.ld"
#define WRAP_MAGIC "millrace-cc" /* the first word of every line */

struct command {                                   /* a compiler's arguments, taken apart */
    struct args sources, flags, libraries, inputs; /* flags: what makes code; libraries: what the link takes */
    struct args order;                             /* sources, inputs and libraries as they came */
    const char *output;
    bool compiles, links; /* -c; neither -c, -E, -S nor anything else */
};
void command_parse(struct command *, char *const *argv); /* without argv[0] */

/* Run the compiler with these arguments (without argv[0]); its exit status. */
int wrap_run(const char *compiler, char *const *argv);
#endif
