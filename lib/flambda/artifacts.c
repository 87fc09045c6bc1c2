/* artifacts.c - see artifacts.h */
#include "flambda/artifacts.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/out.h"
#include "measure/child.h"
#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* "  401126:\tpush   %rbp": blanks, hexadecimal address, colon, tab, something */
static bool is_instruction(const char *s, const char *end)
{
    while (s < end && *s == ' ') s++;
    const char *digits = s;
    while (s < end && isxdigit((unsigned char)*s)) s++;
    return s > digits && end - s > 2 && s[0] == ':' && s[1] == '\t' && s[2] != '\n';
}

long instructions_in(const char *text, size_t n)
{
    long count = 0;
    for (const char *s = text, *end = text + n; s < end;) {
        const char *line_end = memchr(s, '\n', (size_t)(end - s));
        if (!line_end) line_end = end;
        count += is_instruction(s, line_end);
        s = line_end + (line_end < end);
    }
    return count;
}

static long disassemble(int fd, const char *archive, const char *member)
{
    char *path = xformat("/proc/%ld/fd/%d", (long)getpid(), fd);
    char words[][24] = { "objdump", "-d", "--no-show-raw-insn", "-j", ".text" };
    char *argv[] = { words[0], words[1], words[2], words[3], words[4], path, NULL };
    struct child c = { .argv = argv, .keep_output = true };
    struct ran r = child_run(&c);
    if (r.how == RAN_NOT_STARTED) die("objdump cannot be run: %s", strerror(r.error));
    if (r.how != RAN_EXIT || r.code) die("%s: %s: objdump cannot disassemble it", archive, member);
    long count = instructions_in(r.output.s, r.output.n);
    free(r.output.s);
    free(path);
    return count;
}

static bool is_program(const unsigned char *head, size_t n)
{
    enum { EXECUTABLE = 2, SHARED = 3 };                 /* e_type, little end first */
    return n > 17 && !memcmp(head, "\177ELF", 4) && (head[16] == EXECUTABLE || head[16] == SHARED);
}

/* the member, of which n bytes were read already, in a file that has no name */
static int copy_member(struct archive *a, const unsigned char *head, size_t n, const char *archive, const char *member)
{
    char block[1 << 14];
    int fd = memfd_create("artifact", MFD_CLOEXEC);
    if (fd < 0) die_errno("%s: %s", archive, member);
    if (!write_all(fd, head, n)) die_errno("%s: %s", archive, member);
    for (ssize_t k; (k = archive_read_data(a, block, sizeof block)) != 0;) {
        if (k < 0) die("%s: %s: %s", archive, member, archive_error_string(a));
        if (!write_all(fd, block, (size_t)k)) die_errno("%s: %s", archive, member);
    }
    return fd;
}

size_t artifacts_count(const char *archive, artifact_visit *visit, void *context)
{
    struct archive *a = archive_read_new();
    struct archive_entry *entry;
    size_t found = 0;
    archive_read_support_filter_all(a);
    archive_read_support_format_tar(a);                  /* not all: any text at all passes for some of them */
    archive_read_support_format_cpio(a);
    archive_read_support_format_zip(a);
    archive_read_support_format_ar(a);
    if (archive_read_open_filename(a, archive, 1 << 16) != ARCHIVE_OK) die("%s: %s", archive, archive_error_string(a));
    for (int rc; (rc = archive_read_next_header(a, &entry)) != ARCHIVE_EOF;) {
        if (rc < ARCHIVE_WARN) die("%s: %s", archive, archive_error_string(a));
        const char *member = archive_entry_pathname(entry);
        unsigned char head[64];
        if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_size(entry) < (int64_t)sizeof head) continue;
        ssize_t n = archive_read_data(a, head, sizeof head);
        if (n < 0) die("%s: %s: %s", archive, member, archive_error_string(a));
        if (!is_program(head, (size_t)n)) continue;
        int fd = copy_member(a, head, (size_t)n, archive, member);
        visit(context, member, disassemble(fd, archive, member));
        found++;
        close(fd);
    }
    archive_read_free(a);
    return found;
}
