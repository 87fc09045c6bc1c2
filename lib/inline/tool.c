/* tool.c - see tool.h */
#include "inline/tool.h"
#include "base/message.h"
#include "base/out.h"
#include "measure/child.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* generous for any C program, small enough that a run-away inliner does not take the machine along */
static const struct limits compile_limits = { .cpu_seconds = 300, .wall_seconds = 900, .memory_bytes = 6000000000u };

void arg(struct args *a, const char *s)
{
    a->v = grow(a->v, a->n + 2, &a->cap, sizeof *a->v);
    a->v[a->n++] = (char *)(uintptr_t)s;                 /* execvp takes char *const * but changes nothing */
    a->v[a->n] = NULL;
}

void args(struct args *a, char *const *more)
{
    for (; more && *more; more++) arg(a, *more);
}

void args_free(struct args *a)
{
    free(a->v);
    *a = (struct args){ 0 };
}

void unit_flags(struct args *a, const struct unit *u)
{
    static const char *const dropped[] = { "-O",    "-g",    "-flto",   "-fPIC",   "-fpic",
                                           "-fPIE", "-fpie", "-fno-pie", "-fno-PIE", "-Qunused-arguments" };
    for (char *const *f = u->flags; f && *f; f++) {
        bool drop = false;
        for (size_t i = 0; i < sizeof dropped / sizeof *dropped && !drop; i++)
            drop = strncmp(*f, dropped[i], strlen(dropped[i])) == 0;
        if (!drop) arg(a, *f);
    }
}

bool flag_of_language(const char *flag)
{
    return strncmp(flag, "-f", 2) == 0 || strncmp(flag, "-m", 2) == 0 || strncmp(flag, "-std", 4) == 0 ||
           strcmp(flag, "-ansi") == 0;
}

bool flag_has_value(const char *flag)
{
    static const char *const has[] = { "-I",      "-include",   "-imacros", "-isystem",       "-iquote",   "-x",
                                       "-mllvm",  "-idirafter", "-Xclang",  "-Xpreprocessor", "-isysroot", "-target",
                                       "--param", "-arch",      "-aux-info", "-Xassembler" };
    for (size_t i = 0; i < sizeof has / sizeof *has; i++) if (strcmp(flag, has[i]) == 0) return true;
    return false;
}

bool one_of(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0) return true;
    return false;
}

size_t flag_of_link(char *const *w)
{
    static const char *const pair[] = { "-l", "-L", "-Xlinker", "-T", "-u", "-z", "-e", "-rpath", NULL };
    static const char *const exact[] = { "-shared",      "-static",      "-static-pie",     "-static-libgcc",
                                         "-pie",         "-no-pie",      "-rdynamic",       "-static-libstdc++",
                                         "-nostdlib",    "-nostartfiles", "-nodefaultlibs", "-r", "-s", NULL };
    static const char *const with[] = { "-l", "-L", "-Wl,", "-fuse-ld" };
    if (w[1] && one_of(pair, w[0])) return 2;
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (strncmp(w[0], with[i], strlen(with[i])) == 0) return 1;
    return one_of(exact, w[0]);
}

size_t flag_take(struct args *a, char *const *w)
{
    bool name = strcmp(w[0], "-D") == 0 || strcmp(w[0], "-U") == 0, two = w[1] && (name || flag_has_value(w[0]));
    arg(a, two && name ? xformat("%s%s", w[0], w[1]) : w[0]);
    if (two && !name) arg(a, w[1]);
    return 1 + two;
}

struct memory_file memory_file(const char *label)
{
    struct memory_file f;
    f.fd = memfd_create(label, MFD_CLOEXEC);
    if (f.fd < 0) die_errno("memfd");
    snprintf(f.name, sizeof f.name, "/proc/%ld/fd/%d", (long)getpid(), f.fd);
    return f;
}

void memory_file_write(struct memory_file *f, const struct buf *b)
{
    if (!write_all(f->fd, b->s, b->n)) die_errno("memfd");
}

struct buf memory_file_read(struct memory_file *f)
{
    off_t size = lseek(f->fd, 0, SEEK_END);
    if (size < 0) die_errno("memfd");
    struct buf b = { .s = xmalloc((size_t)size + 1, 1), .cap = (size_t)size + 1 };
    while (b.n < (size_t)size) {
        ssize_t k = pread(f->fd, b.s + b.n, (size_t)size - b.n, (off_t)b.n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        b.n += (size_t)k;
    }
    b.s[b.n] = 0;
    close(f->fd);
    f->fd = -1;
    return b;
}

bool file_read(const char *path, struct buf *b)
{
    char part[65536];
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && ((n = read(fd, part, sizeof part)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0) buf_add(b, part, (size_t)n);
    if (fd >= 0) close(fd);
    return n == 0;
}

str elf_section(const struct buf *b, const char *name)
{
    Elf64_Ehdr h;
    Elf64_Shdr names, s;
    size_t n = strlen(name) + 1;
    if (b->n < sizeof h || memcmp(b->s, ELFMAG, SELFMAG) != 0 || b->s[EI_CLASS] != ELFCLASS64) return (str){ "", 0 };
    memcpy(&h, b->s, sizeof h);
    if (h.e_shoff > b->n || (b->n - h.e_shoff) / sizeof s < h.e_shnum || h.e_shstrndx >= h.e_shnum)
        return (str){ "", 0 };
    memcpy(&names, b->s + h.e_shoff + h.e_shstrndx * sizeof names, sizeof names);
    if (names.sh_offset > b->n) return (str){ "", 0 };
    for (size_t i = 0; i < h.e_shnum; i++) {
        memcpy(&s, b->s + h.e_shoff + i * sizeof s, sizeof s);
        size_t left = b->n - names.sh_offset;
        if (s.sh_name > left || left - s.sh_name < n) continue;
        if (memcmp(b->s + names.sh_offset + s.sh_name, name, n) != 0 || s.sh_type == SHT_NOBITS) continue;
        if (s.sh_offset <= b->n && s.sh_size <= b->n - s.sh_offset) return (str){ b->s + s.sh_offset, s.sh_size };
    }
    return (str){ "", 0 };
}

static bool broke;

bool tool_broke(void)
{
    return broke;
}

/* a line about the machine, not about what was compiled; NULL: there is none */
static const char *machine_line(const char *text)
{
    static const int fault[] = { ENOSPC, EDQUOT, EFBIG, EROFS, EIO, ENOMEM, EMFILE, ENFILE, EAGAIN };
    static const char *const killed[] = { "due to signal", "signal terminated", "unable to execute command",
                                          "out of memory", "error while loading shared libraries" };
    const char *at = NULL;
    for (size_t i = 0; i < sizeof fault / sizeof *fault && !at; i++) at = strstr(text, strerror(fault[i]));
    for (size_t i = 0; i < sizeof killed / sizeof *killed && !at; i++) at = strstr(text, killed[i]);
    while (at && at > text && at[-1] != '\n') at--;
    return at;
}

/* one line that explains a failure: about the machine, what the linker misses, the first that says error, the first */
static const char *explain(const char *tool, const struct ran *ran, const char *text)
{
    static char sentence[512];
    const char *line = machine_line(text);
    broke = line || ran->how != RAN_EXIT;
    static const char *const tells[] = { "undefined reference to ", "undefined symbol: ", "cannot find ", "error: " };
    for (size_t i = 0; i < sizeof tells / sizeof *tells && !line; i++) line = strstr(text, tells[i]);
    const char *base = strrchr(tool, '/');
    base = base ? base + 1 : tool;
    if (ran->how == RAN_NOT_STARTED) snprintf(sentence, sizeof sentence, "%s: %s", base, strerror(ran->error));
    else if (ran->how == RAN_EXIT) {
        if (!line) line = text;
        snprintf(sentence, sizeof sentence, "%s exit %d: %.*s", base, ran->code, (int)strcspn(line, "\n"), line);
    } else if (ran->how == RAN_SIGNAL) snprintf(sentence, sizeof sentence, "%s: signal %d", base, ran->signal);
    else snprintf(sentence, sizeof sentence, "%s: %s", base, ran_word(ran));
    return sentence;
}

const char *tool_run(struct args *a, const char *directory, struct buf *errors, struct buf *output)
{
    struct memory_file err = memory_file("stderr");
    struct child c = { .argv = a->v, .directory = directory, .error = err.name, .limits = compile_limits,
                       .keep_output = output != NULL };
    struct ran ran = child_run(&c);
    struct buf text = memory_file_read(&err);
    broke = false;
    const char *why = ran.how == RAN_EXIT && ran.code == 0 ? NULL : explain(a->v[0], &ran, text.s);
    if (errors) *errors = text;
    else free(text.s);
    if (output) *output = ran.output;
    args_free(a);
    return why;
}
