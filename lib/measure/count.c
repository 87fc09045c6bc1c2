/* count.c - see count.h */
#include "measure/count.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/out.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifndef PLUGINS
#define PLUGINS "build/measure"
#endif

const char *const count_name[] = { "instructions", "modelled_cycles", "code_bytes",
                                   "text_bytes",   "allocations",     "allocated_bytes",
                                   "data_reads", "data_writes", "fetch_misses", "read_misses", "write_misses",
                                   "last_misses", "branches", "indirect_branches", "mispredictions" };

char *program_path(const char *name)
{
    if (strchr(name, '/')) return access(name, X_OK) == 0 ? xstrdup(name) : NULL;
    for (const char *p = getenv("PATH"); p && *p; ) {
        size_t n = strcspn(p, ":");
        char *path = xformat("%.*s/%s", (int)n, p, name);
        if (access(path, X_OK) == 0) return path;
        free(path);
        p += n + (p[n] == ':');
    }
    return NULL;
}

char *program_in(const char *directory, const char *name)
{
    if (!directory || *name == '/' || !strchr(name, '/')) return program_path(name);
    char *path = xformat("%s/%s", directory, name), *found = program_path(path);
    free(path);
    return found;
}

static struct counts nothing(const char *backend)
{
    struct counts c = { .backend = backend };
    for (int i = 0; i < COUNT_METRICS; i++) c.value[i] = NAN;
    return c;
}

/* beside the programs' build, beside an installed program, or where it was built */
static char here[4096];                                  /* this program's folder */

void count_begin(void)
{
    if (here[0]) return;
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    here[n > 0 ? n : 0] = 0;
    char *slash = strrchr(here, '/');
    if (slash) *slash = 0;
}

static char *plugin(const char *name)
{
    count_begin();
    static const char *const near[] = { "../build/measure", "../measure", "../lib/millrace" };
    for (size_t i = 0; here[0] && i < sizeof near / sizeof *near; i++) {
        char *path = xformat("%s/%s/%s", here, near[i], name);
        if (access(path, R_OK) == 0) return path;
        free(path);
    }
    return xformat("%s/%s", PLUGINS, name);
}

/* the report's last line that begins with `key`, after it */
static char *take_report(const char *path, const char *key)
{
    char line[4096], *found = NULL;
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0) {
            free(found);
            found = xstrdup(line + strlen(key));
        }
    if (f) fclose(f);
    return found;
}

static void drop_report(char *path)
{
    unlink(path);
    free(path);
}

/* the command behind a front of `n` words; argv[n] is the program with its path, which starts in its own folder */
static char **behind(char *const *front, size_t n, char *const *argv, char *program)
{
    size_t k = 0;
    while (argv[k]) k++;
    char **all = xmalloc(size_add(n, k) + 1, sizeof *all);
    memcpy(all, front, n * sizeof *all);
    all[n] = strchr(argv[0], '/') ? argv[0] : program;
    memcpy(all + n + 1, argv + 1, k * sizeof *all);
    return all;
}

static const char *run_failed(const struct ran *r)
{
    if (r->how == RAN_NOT_STARTED) return "the counter is not installed";
    if (r->how == RAN_EXIT) return "no report: not a program for this counter (script, static, foreign)?";
    return ran_word(r);
}

/* which qemu: by the machine field of the ELF header */
static const char *emulator(const char *path)
{
    Elf64_Ehdr h;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, &h, sizeof h);
    if (fd >= 0) close(fd);
    if (n < (ssize_t)sizeof h || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0) return NULL;
    switch (h.e_machine) {
    case EM_X86_64: return "qemu-x86_64";
    case EM_386: return "qemu-i386";
    case EM_AARCH64: return "qemu-aarch64";
    case EM_RISCV: return h.e_ident[EI_CLASS] == ELFCLASS64 ? "qemu-riscv64" : "qemu-riscv32";
    case EM_ARM: return "qemu-arm";
    default: return NULL;
    }
}

/* Debian 13's is static, and has none */
static bool has_plugins(const char *qemu)
{
    static const char *asked;
    static bool has;
    if (asked == qemu) return has;
    char name[32], help[] = "--help", *argv[] = { name, help, NULL };
    snprintf(name, sizeof name, "%s", qemu);
    struct child c = { .argv = argv, .keep_output = true };
    struct ran r = child_run(&c);
    has = r.how == RAN_EXIT && r.output.s && strstr(r.output.s, "-plugin");
    free(r.output.s);
    asked = qemu;
    return has;
}

struct block { uint64_t address, count; };

static int by_address(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    return ORDER(x->address, y->address);
}

/* The lines `address count` of the plugin's report; or of callgrind's, of the object `own`, where an instruction is a
 * block: `ob=OBJECT` above lines `address line count`, but those behind `calls=`, which are what the call took. */
static void read_blocks(const char *path, const char *own, struct blocks *b)
{
    struct block *v = NULL;
    size_t n = 0, cap = 0;
    char line[4096];
    bool in = !own, call = false;
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        char *end;
        line[strcspn(line, "\n")] = 0;
        if (own && strncmp(line, "ob=", 3) == 0) in = strcmp(line + 3, own) == 0;
        bool inclusive = call;
        call = strncmp(line, "calls=", 6) == 0;
        unsigned long long address = strtoull(line, &end, own ? 16 : 10);
        if (!in || inclusive || end == line || *end != ' ') continue;
        char *count = strrchr(end, ' ');
        v = grow(v, n + 1, &cap, sizeof *v);
        v[n++] = (struct block){ address, strtoull(count, NULL, 10) };
    }
    if (f) fclose(f);
    if (n) qsort(v, n, sizeof *v, by_address);
    *b = (struct blocks){ xmalloc(n, sizeof *b->address), xmalloc(n, sizeof *b->count), n };
    for (size_t i = 0; i < n; i++) b->address[i] = v[i].address, b->count[i] = v[i].count;
    free(v);
}

char **count_environment(const char *const *keep, int n)
{
    static const char *const fixed[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LC_ALL=C", "TZ=UTC",
                                         "TMPDIR=/tmp" };
    enum { FIXED = sizeof fixed / sizeof *fixed };
    char **env = xcalloc((size_t)n + FIXED + 2, sizeof *env);
    int k = 0;
    for (; k < FIXED; k++) env[k] = xstrdup(fixed[k]);
    for (int i = -1; i < n; i++) {
        const char *name = i < 0 ? "LD_LIBRARY_PATH" : keep[i], *value = getenv(name);
        if (value) env[k++] = xformat("%s=%s", name, value);
    }
    return env;
}

/* the command behind its counter, in an environment of its own unless it was given one */
static struct child counted(const struct child *c, char **argv)
{
    static char **nothing_kept;
    if (!nothing_kept) nothing_kept = count_environment(NULL, 0);
    struct child k = *c;
    k.argv = argv;
    if (!k.env) k.env = nothing_kept;
    return k;
}

struct counts count_blocks(const struct child *c, struct blocks *b)
{
    if (b) *b = (struct blocks){ 0 };
    struct counts r = nothing("qemu-user plugin");
    char *program = program_in(c->directory, c->argv[0]);
    const char *qemu = program ? emulator(program) : NULL;
    bool plugins = qemu && has_plugins(qemu), native = qemu && strcmp(qemu, "qemu-x86_64") == 0;
    r.why = !program ? "no such program" : !qemu ? "not an ELF program" :
        !plugins && !native ? "qemu-user without plugins here" : NULL;
    if (r.why) {
        free(program);
        return r;
    }
    if (!plugins) r.backend = "callgrind";
    char *report = out_scratch_file("count"), *so = plugin("insn.so");
    char *word = plugins ? xformat("%s,out=%s%s", so, report, b ? ",blocks=on" : "") :
        xformat("--callgrind-out-file=%s", report);
    char option[] = "-plugin", tool[] = "--tool=callgrind", log[] = "--log-file=/dev/null", plt[] = "--skip-plt=no",
         names[] = "--compress-strings=no", positions[] = "--compress-pos=no", addresses[] = "--dump-instr=yes",
         name[32];
    snprintf(name, sizeof name, "%s", plugins ? qemu : "valgrind");
    char *front[] = { name, option, word }, *slow[] = { name, tool, log, word, plt, names, positions, addresses };
    char **argv = plugins ? behind(front, 3, c->argv, program) : behind(slow, b ? 8 : 7, c->argv, program);
    struct child k = counted(c, argv);
    r.ran = child_run(&k);
    char *line = take_report(report, plugins ? "" : "totals:");
    if (line) r.value[COUNT_INSTRUCTIONS] = strtod(line, NULL);
    char *real = plugins ? NULL : realpath(program, NULL);
    if (line && b) read_blocks(report, real, b);
    if (!line) r.why = plugins && access(so, R_OK) != 0 ? "the plugin insn.so is missing" : run_failed(&r.ran);
    drop_report(report);
    free_all(line, so, word, argv, program, real);
    return r;
}

/* cachegrind's totals: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim */
static bool read_totals(const char *totals, double v[13])
{
    char *end;
    for (int i = 0; i < 13; i++, totals = end) {
        v[i] = strtod(totals, &end);
        if (end == totals) return false;
    }
    return true;
}

static struct counts cachegrind(const struct child *c, double v[13])
{
    struct counts r = nothing("cachegrind");
    char *program = program_in(c->directory, c->argv[0]);
    if (!program) {
        r.why = "no such program";
        return r;
    }
    char *report = out_scratch_file("count"), *out = xformat("--cachegrind-out-file=%s", report);
    char name[] = "valgrind", tool[] = "--tool=cachegrind", cache[] = "--cache-sim=yes", branch[] = "--branch-sim=yes",
         log[] = "--log-file=/dev/null";
    char *front[] = { name, tool, cache, branch, log, out }, **argv = behind(front, 6, c->argv, program);
    struct child k = counted(c, argv);
    r.ran = child_run(&k);
    char *line = take_report(report, "summary:");
    if (!line || !read_totals(line, v)) r.why = run_failed(&r.ran);
    drop_report(report);
    free_all(line, out, argv, program);
    return r;
}

struct counts count_cycles(const struct child *c)
{
    double v[13];
    struct counts r = cachegrind(c, v);
    if (r.why) return r;
    double last = v[2] + v[5] + v[8], first = v[1] + v[4] + v[7], branches = v[10] + v[12];
    r.value[COUNT_CYCLES] = v[0] + 10 * first + 100 * last + 10 * branches;
    return r;
}

struct counts count_events(const struct child *c)
{
    double v[13];
    struct counts r = cachegrind(c, v);
    if (r.why) return r;
    r.value[COUNT_READS] = v[3];
    r.value[COUNT_WRITES] = v[6];
    r.value[COUNT_FETCH_MISSES] = v[1];
    r.value[COUNT_READ_MISSES] = v[4];
    r.value[COUNT_WRITE_MISSES] = v[7];
    r.value[COUNT_LAST_MISSES] = v[2] + v[5] + v[8];
    r.value[COUNT_BRANCHES] = v[9];
    r.value[COUNT_INDIRECT] = v[11];
    r.value[COUNT_MISPREDICTIONS] = v[10] + v[12];
    return r;
}

struct counts count_allocations(const struct child *c)
{
    struct counts r = nothing("preload");
    char *report = out_scratch_file("count"), *so = plugin("alloc.so");
    char *preload = xformat("LD_PRELOAD=%s", so), *where = xformat("MILLRACE_ALLOC_REPORT=%s", report);
    struct child k = counted(c, (char **)(uintptr_t)c->argv);
    char *const *old = k.env;
    size_t n = 0;
    while (old[n]) n++;
    char **env = xmalloc(n + 3, sizeof *env);
    memcpy(env, old, n * sizeof *env);
    env[n] = preload, env[n + 1] = where, env[n + 2] = NULL;
    k.env = env;
    r.ran = child_run(&k);
    char *line = take_report(report, ""), *rest;
    if (line) {
        r.value[COUNT_ALLOCATIONS] = strtod(line, &rest);
        r.value[COUNT_ALLOCATED] = strtod(rest, NULL);
    } else r.why = r.ran.how == RAN_NOT_STARTED ? "no such program" : run_failed(&r.ran);
    drop_report(report);
    free_all(line, so, preload, where, env);
    return r;
}

struct counts count_size(const char *path)
{
    struct counts r = nothing("elf");
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (fd >= 0) close(fd);
        r.why = strerror(errno);
        return r;
    }
    size_t n = (size_t)st.st_size;
    const unsigned char *p = n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    r.why = "not an ELF64 file with sections";
    if (p == MAP_FAILED) return r;
    Elf64_Ehdr h;
    if (n >= sizeof h) memcpy(&h, p, sizeof h);
    if (n >= sizeof h && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_CLASS] == ELFCLASS64 &&
        h.e_ident[EI_DATA] == ELFDATA2LSB && h.e_shentsize == sizeof(Elf64_Shdr) && h.e_shnum && h.e_shoff < n &&
        (n - h.e_shoff) / sizeof(Elf64_Shdr) >= h.e_shnum) {
        double code = 0, text = 0;
        for (size_t i = 0; i < h.e_shnum; i++) {
            Elf64_Shdr s;
            memcpy(&s, p + h.e_shoff + i * sizeof s, sizeof s);
            if (!(s.sh_flags & SHF_ALLOC) || s.sh_type == SHT_NOBITS) continue;
            if (s.sh_flags & SHF_EXECINSTR) code += (double)s.sh_size;
            if (!(s.sh_flags & SHF_WRITE)) text += (double)s.sh_size;
        }
        r.value[COUNT_CODE] = code;
        r.value[COUNT_TEXT] = text;
        r.why = NULL;
    }
    munmap((void *)(uintptr_t)p, n);
    return r;
}
