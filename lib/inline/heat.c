/* heat.c - see heat.h */
#include "inline/heat.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/out.h"
#include "measure/child.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linked to the counting program: puts a block of a file in the place of the counters, so that what is counted is there
 * however a process ends.  Each process has a block of its own, that of a forked one begins with zeros; where there is
 * none to be had it shares that of its parent. */
static const char support[] =
    "#include <fcntl.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    "#include <sys/file.h>\n#include <sys/mman.h>\n#include <unistd.h>\n"
    "extern unsigned long millrace_heat[], millrace_heat_bytes;\n"
    "static char path[4096];\n"
    "static void block(int first)\n"
    "{\n"
    "    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), there = 0;\n"
    "    if (fd < 0) return;\n"
    "    off_t at = flock(fd, LOCK_EX) ? -1 : lseek(fd, 0, SEEK_END);\n"
    "    if (at >= 0 && at < 1 << 30) there = posix_fallocate(fd, at, millrace_heat_bytes) == 0;\n"
    "    if (there && first) there = pwrite(fd, millrace_heat, millrace_heat_bytes, at) == millrace_heat_bytes;\n"
    "    if (there) mmap(millrace_heat, millrace_heat_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, at);\n"
    "    flock(fd, LOCK_UN);\n"                              /* the mapping would hold it */
    "    close(fd);\n"
    "}\n"
    "static void forked(void) { block(0); }\n"
    "__attribute__((constructor(101))) static void begin(void)\n"
    "{\n"
    "    const char *file = getenv(\"MILLRACE_HEAT\");\n"
    "    if (!file || snprintf(path, sizeof path, \"%s\", file) >= sizeof path) return;\n"
    "    block(1);\n"
    "    pthread_atfork(NULL, NULL, forked);\n"
    "}\n";

/* counters of a block, for n calls: whole pages of any size there is */
enum { PAGE_BYTES = 65536, PAGE_COUNTERS = PAGE_BYTES / 8 };

static size_t counters(size_t n)
{
    return (n / PAGE_COUNTERS + 1) * PAGE_COUNTERS;
}

/* copy the module text, an increment before each call */
static void instrument(const char *text, const char *out, const struct ir_module *m, bool opaque)
{
    FILE *in = fopen(text, "r");
    if (!in) die_errno("%s", text);
    struct out *o = out_open(out);
    FILE *f = out_file(o);
    size_t n = m->ncalls, size = counters(n), next = 0, line = 0, cap = 0;
    const char *pointer = opaque ? "ptr" : "i64*", *array = opaque ? "ptr" : NULL;
    char *typed = xformat("[%zu x i64]*", size);
    if (!array) array = typed;
    char *s = NULL;
    while (text_line(in, text, &s, &cap) >= 0) {
        line++;
        for (; next < n && m->call[next].at == line; next++) {
            char *slot = xformat("%s getelementptr inbounds ([%zu x i64], %s @millrace_heat, i64 0, i64 %zu)", pointer,
                                 size, array, next);
            fprintf(f,
                    "  %%heat.a.%zu = load i64, %s\n  %%heat.b.%zu = add i64 %%heat.a.%zu, 1\n  store i64 "
                    "%%heat.b.%zu, %s\n",
                    next, slot, next, next, next, slot);
            free(slot);
        }
        fputs(s, f);
    }
    fprintf(f,
            "\n@millrace_heat = global [%zu x i64] zeroinitializer, align %d\n"
            "@millrace_heat_bytes = global i64 %zu\n",
            size, PAGE_BYTES, size * sizeof(uint64_t));
    free(s);
    free(typed);
    fclose(in);
    out_close(o);
}

static void run_and_add(const struct work *w, const struct program_run *r, const char *exe, const char *file,
                        uint64_t *count, size_t n)
{
    unlink(file);
    r->argv[0] = (char *)(uintptr_t)exe;
    setenv("MILLRACE_HEAT", file, 1);
    struct child c = { .argv = r->argv, .directory = w->program->directory, .input = r->input,
                       .limits = { .wall_seconds = 300, .output_bytes = (uint64_t)1 << 32 } };
    struct ran ran = child_run(&c);
    unsetenv("MILLRACE_HEAT");
    if (ran.how != RAN_EXIT) die("%s: the counting run ended by %s", w->program->name, ran_word(&ran));
    FILE *f = fopen(file, "rb");
    if (!f) die_errno("%s: no counts in %s", w->program->name, file);
    size_t i = 0, size = counters(n);
    for (uint64_t v; fread(&v, sizeof v, 1, f) == 1; i++) if (i % size < n) count[i % size] += v;
    if (i < n) die("%s: counts end early", w->program->name);
    fclose(f);
    unlink(file);
}

uint64_t *heat_count(const struct work *w, struct ir_module *m)
{
    char *work = realpath(w->path, NULL), *base = out_own(work, "heat");
    if (mkdir(base, 0777) != 0) die_errno("%s", base);
    char *text = xformat("%s/base.ll", base), *counting = xformat("%s/heat.ll", base),
         *source = xformat("%s/heat.c", base);
    char *exe = xformat("%s/heat", base), *file = xformat("%s/heat.bin", base);
    const char *why = llvm_text(w->llvm, clang_module(w->path, "-O2"), NULL, text);
    if (why) die("%s: %s", w->program->name, why);
    ir_read(m, text);
    instrument(text, counting, m, w->llvm->version >= 15);
    struct out *o = out_open(source);
    fputs(support, out_file(o));
    out_close(o);
    char *inputs[] = { counting, source, NULL };
    why = llvm_plain(w->llvm, inputs, w->program->libraries, exe);
    if (why) die("%s: %s", w->program->name, why);
    uint64_t *count = xcalloc(m->ncalls + 1, sizeof *count);
    for (size_t i = 0; i < w->program->nsearch; i++)
        run_and_add(w, &w->program->search_run[i], exe, file, count, m->ncalls);
    char *made[] = { text, counting, source, exe, file };
    for (size_t i = 0; i < 5; i++) {
        unlink(made[i]);
        free(made[i]);
    }
    rmdir(base);
    free(base);
    free(work);
    return count;
}
