/* reread.c - see reread.h */
#include "base/reread.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/out.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct held { char *path, *name; struct held *next; } *all;

const char *reread_name(const char *path)
{
    for (const struct held *h = all; h; h = h->next) if (strcmp(h->path, path) == 0) return h->name;
    return path;
}

void reread_prepare(char **operand)
{
    struct stat st;
    bool in = strcmp(*operand, "-") == 0;
    int fd = in ? STDIN_FILENO : open(*operand, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) die_errno("%s", *operand);
    if (S_ISREG(st.st_mode)) {
        if (!in) close(fd);
        return;
    }
    const char *folder = getenv("TMPDIR");
    int held = out_nameless(folder && *folder ? folder : "/tmp", O_CLOEXEC);
    if (held < 0) die_errno("a file in %s for rows that are read twice", folder && *folder ? folder : "/tmp");
    char part[65536];
    ssize_t n;
    while ((n = read(fd, part, sizeof part)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) die_errno("%s", in ? "(stdin)" : *operand);
        if (!write_all(held, part, (size_t)n)) die_errno("a file for rows that are read twice");
    }
    if (lseek(held, 0, SEEK_SET) != 0 || (in && dup2(held, STDIN_FILENO) < 0)) die_errno("%s", *operand);
    if (in) return;
    struct held *h = xmalloc(1, sizeof *h);
    *h = (struct held){ xformat("/proc/self/fd/%d", held), *operand, all };
    all = h;
    *operand = h->path;
}

off_t reread_begin(void)
{
    off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
    return begin < 0 ? 0 : begin;
}

void reread_stdin(int copy, off_t begin)
{
    if (copy != STDIN_FILENO && dup2(copy, STDIN_FILENO) < 0) die_errno("(stdin)");
    lseek(STDIN_FILENO, begin, SEEK_SET);                /* no file: nobody reads it again */
}
