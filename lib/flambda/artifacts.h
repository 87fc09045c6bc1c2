/* artifacts.h - the programs inside an archive of build artifacts, and how many instructions they consist of.
 *
 * The archive may be tar, cpio, zip or ar, compressed in any way that libarchive knows.  Every ELF program or library
 * in it is disassembled by objdump, its .text section alone; the count is that of instruction lines, so labels, blank
 * lines and skipped padding do not enter. */
#ifndef MILLRACE_ARTIFACTS_H
#define MILLRACE_ARTIFACTS_H
#include <stddef.h>

typedef void artifact_visit(void *context, const char *member, long instructions);

/* Calls visit for each ELF program or shared library, in the archive's order (object files are passed over); returns
 * how many there were.  Dies naming the archive when it is broken, or when objdump cannot be run. */
size_t artifacts_count(const char *archive, artifact_visit *, void *context);
long instructions_in(const char *text, size_t n);        /* instruction lines of objdump's output */
#endif
