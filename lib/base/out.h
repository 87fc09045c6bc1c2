/* out.h - files that are complete or absent: written aside in the same directory, synced, then renamed. */
#ifndef MILLRACE_OUT_H
#define MILLRACE_OUT_H
#include <stdbool.h>
#include <stdio.h>

/* out_open: a stream on a temporary file next to path ("-" or NULL: stdout itself).  out_close flushes, checks every
 * write and renames; it dies with a message and removes the temporary when bytes did not get out.  Temporaries of
 * streams still open are removed at exit and by the signals that a user, a limit or a reader that is gone sends. */
struct out;
struct out *out_open(const char *path);
/* Whatever is written aside is called OUT_LEFT PID-HERE-NAME; out_here(): eight digits for this host, its boot and our
 * PID namespace, whose process that is: on a shared disk others have the same numbers.  A killed process leaves it;
 * out_sweep removes from a folder the files of processes that are gone from here, and folders with nothing but files;
 * pipelines/sweep (which make begins with) those of a tree, and what elsewhere was left. */
#define OUT_LEFT ".millrace-"
const char *out_here(void);
void out_sweep(const char *folder);
/* Such a name in a folder, for a file or a folder of files of this process, which the caller makes and removes, as it
 * frees the name; what is still there when the process exits is removed then. */
char *out_own(const char *folder, const char *name);
/* A new folder in TMPDIR for files of this process alone, which the caller removes and frees; those that killed
 * processes left there are swept first.  As TMPDIR of a compiler it has what that leaves, killed, too. */
char *out_scratch(const char *name);
/* The same in /tmp whatever TMPDIR is, under a path whose length depends on the name alone: for programs whose
 * instructions are counted, since a program finds itself by its path, which costs instructions. */
char *out_scratch_even(const char *name);
char *out_scratch_file(const char *name);                /* as out_scratch, an empty file */
/* A file without a name in a folder, to read and write, with these flags of open as well; -1 with errno. */
int out_nameless(const char *folder, int flags);
/* All n bytes, however often the call is interrupted or takes a part; false with errno. */
bool write_all(int fd, const void *p, size_t n);
/* May a file be renamed to this name, or taken away: is nothing there, or a regular file?  As root a program that does
 * so with /dev/null leaves everybody a file in its place. */
bool out_may_replace(const char *path);
FILE *out_file(struct out *);
int out_fd(struct out *);                                /* the same file for csvw_fd; do not mix with out_file */
void out_close(struct out *);

/* Last act of every filter that wrote to stdout through stdio: flush, check, EXIT_OK or die. */
int finish(void);
#endif
