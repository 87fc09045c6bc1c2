/* reread.h - inputs that are read twice: what is no file (a pipe) is kept in one without a name, in TMPDIR. */
#ifndef MILLRACE_REREAD_H
#define MILLRACE_REREAD_H
#include <stdbool.h>
#include <sys/types.h>

/* The operand ("-" is standard input) can then be opened twice; its path may change, standard input become a file. */
void reread_prepare(char **operand);
const char *reread_name(const char *path);               /* what the operand was that has this path now */
off_t reread_begin(void);                                /* where standard input begins now; 0 when it is no file */
void reread_stdin(int copy, off_t begin);                /* copy: dup() of standard input, or STDIN_FILENO itself */
#endif
