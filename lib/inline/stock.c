/* stock.c - see stock.h */
#include "inline/stock.h"
#include "inline/lto.h"
#include "inline/profile.h"
#include "inline/tool.h"
#include "base/message.h"
#include "base/out.h"
#include "measure/child.h"
#include "measure/count.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct row {
    const char *name, *level;
    bool gcc, lto, thin, pgo, bolt, size;
} rows[] = {
    { "O2", "-O2" },
    { "O3", "-O3" },
    { "Os", "-Os" },
    { "Oz", "-Oz" },
    { "thinlto", "-O2", .lto = true, .thin = true },
    { "lto", "-O2", .lto = true },
    { "pgo", "-O2", .pgo = true },
    { "lto-pgo", "-O2", .lto = true, .pgo = true },
    { "lto-O3", "-O3", .lto = true },
    { "lto-pgo-O3", "-O3", .lto = true, .pgo = true },
    { "lto-pgo-size", "-O2", .lto = true, .pgo = true, .size = true },
    { "gcc-O2", "-O2", .gcc = true },
    { "gcc-O3", "-O3", .gcc = true },
    { "gcc-lto", "-O2", .gcc = true, .lto = true },
    { "gcc-pgo", "-O2", .gcc = true, .pgo = true },
    { "gcc-lto-pgo", "-O2", .gcc = true, .lto = true, .pgo = true },
    { "bolt", "-O2", .lto = true, .pgo = true, .bolt = true },
};

/* the same for a user's own build: flags, a file that the compiler reads as @flags, and make.args, words for make */
static void write_flags(const struct work *w, const struct args *compile, const struct args *link,
                        const char *directory)
{
    char *flags = xformat("%s/flags", directory), *words = xformat("%s/make.args", directory);
    struct out *o = out_open(flags);
    struct buf text = { 0 };
    for (size_t i = 0; i < compile->n + link->n; i++) {
        shell_quote(&text, i < compile->n ? compile->v[i] : link->v[i - compile->n]);
        buf_add(&text, "\n", 1);
    }
    fprintf(out_file(o), "%.*s-Wno-unused-command-line-argument\n", (int)text.n, text.s);
    out_close(o);
    int v = w->llvm->version;
    o = out_open(words);
    text.n = 0;
    shell_quote(&text, xformat("CC=%s @%s", w->compiler, flags));
    fprintf(out_file(o), "AR=llvm-ar-%d\nRANLIB=llvm-ranlib-%d\n%.*s\n", v, v, (int)text.n, text.s);
    out_close(o);
    free_all(flags, words, text.s);
}

static void lto_words(const struct row *r, const struct work *w, struct args *compile, struct args *link)
{
    if (!r->lto) return;
    const char *word = r->thin ? "-flto=thin" : "-flto";
    arg(compile, word);
    arg(link, word);
    if (r->gcc) return;
    arg(link, "-fuse-ld=lld");
    arg(link, xformat("--ld-path=%s", w->llvm->lld));
}

static const char *gcc_build(const struct row *r, const struct work *w, const char *directory, const char *exe)
{
    struct args compile = { 0 }, link = { 0 };
    char *driver = program_path("gcc");
    if (!driver) return "gcc not found (apt install gcc)";
    const char *why = NULL;
    arg(&compile, r->level);
    arg(&link, "-no-pie");
    if (r->pgo) { /* counts lie beside the objects, whose names stay the same */
        struct args count = { 0 }, count_link = { 0 };
        args(&count, compile.v);
        args(&count_link, link.v);
        arg(&count, "-fprofile-generate");
        arg(&count_link, "-fprofile-generate");
        why = units_build(driver, w->program, &count, &count_link, directory, exe);
        if (!why) why = units_run(w->program, exe, NULL, NULL);
        arg(&compile, "-fprofile-use");
        args_free(&count);
        args_free(&count_link);
    }
    if (r->lto) arg(&link, r->level); /* gcc generates code when it links */
    if (r->lto) arg(&link, "-w");
    lto_words(r, w, &compile, &link);
    if (!why) why = units_build(driver, w->program, &compile, &link, directory, exe);
    args_free(&compile);
    args_free(&link);
    free(driver);
    return why;
}

/* the program of LLVM's called so: of clang's own version, else the newest that is here */
static char *llvm_tool(const char *name, int version)
{
    char *tool = program_path(xformat("%s-%d", name, version));
    for (int v = 40; v > 10 && !tool; v--) tool = program_path(xformat("%s-%d", name, v));
    return tool ? realpath(tool, NULL) : NULL;           /* it looks for its library beside itself */
}

/* instrument, run, lay out anew */
static const char *bolt(const struct work *w, const char *directory, const char *exe)
{
    char *tool = llvm_tool("llvm-bolt", w->llvm->version), *merge = llvm_tool("merge-fdata", w->llvm->version);
    if (!tool || !merge) return "llvm-bolt not found (apt install bolt-19)";
    char *data = xformat("%s/bolt.fdata", directory), *counting = xformat("%s/counting", directory),
         *before = xformat("%s/before", directory);
    struct args a = { 0 }, b = { 0 };
    unlink(data);
    if (rename(exe, before) != 0) die_errno("%s", exe);
    arg(&a, tool);
    arg(&a, before);
    arg(&a, "-instrument");
    arg(&a, xformat("--instrumentation-file=%s", data));
    arg(&a, "--instrumentation-file-append-pid");
    arg(&a, "-o");
    arg(&a, counting);
    const char *why = tool_run(&a, NULL, NULL, NULL);
    if (!why) why = units_run(w->program, counting, NULL, NULL);
    if (!why) { /* a file a process: merged */
        struct args m = { 0 };
        struct buf merged = { 0 };
        arg(&m, "/bin/sh");
        arg(&m, "-c");
        arg(&m, "exec \"$0\" \"$1\".*");                 /* names are no part of what a shell reads */
        arg(&m, merge);
        arg(&m, data);
        why = tool_run(&m, NULL, NULL, &merged);
        if (!why) {
            struct out *o = out_open(data);
            fwrite(merged.s, 1, merged.n, out_file(o));  /* out_close sees errors */
            out_close(o);
        }
        free(merged.s);
    }
    arg(&b, tool);
    static const char *const words[] = { "-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions",
                                         "-split-all-cold", "-use-old-text" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) arg(&b, words[i]);
    arg(&b, before);
    arg(&b, xformat("-data=%s", data));
    arg(&b, "-o");
    arg(&b, exe);
    if (!why) return tool_run(&b, NULL, NULL, NULL);
    args_free(&b);
    return why;
}

static const char *clang_build(const struct row *r, const struct work *w, const char *directory, const char *exe)
{
    struct args compile = { 0 }, link = { 0 };
    char *data = xformat("%s/ir.profdata", directory);
    const char *why = NULL;
    if (!w->llvm) return "the work directory is not of a clang";
    if (r->lto && !w->llvm->lld) return lld_missing(w->llvm);
    arg(&compile, r->level);
    arg(&link, "-no-pie");
    if (r->lto) arg(&link, r->level);
    if (r->pgo) why = profile_make(w->llvm, w->program, "ir", data);
    if (r->pgo) profile_use_words(&compile, "ir", data);
    if (r->size) lto_cold_words(&compile, false);
    if (r->size) lto_cold_words(&link, true);
    lto_words(r, w, &compile, &link);
    if (r->bolt) arg(&link, "-Wl,--emit-relocs");
    if (!why) why = units_build(w->llvm->clang, w->program, &compile, &link, directory, exe);
    if (!why && r->bolt) why = bolt(w, directory, exe);
    else if (!why) write_flags(w, &compile, &link, directory);
    args_free(&compile);
    args_free(&link);
    free(data);
    return why;
}

const char *stock_build(const struct work *w, const char *name, const char *exe)
{
    const struct row *r = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) r = &rows[i];
    if (!r) die("no stock build is called '%s'", name);
    if (!out_may_replace(exe)) die("%s: no file; what a stock build is made of stays beside it", exe);
    if (w->missing && !r->gcc) return w->missing;
    char *directory = xformat("%s.stock", exe);
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) die_errno("%s", directory);
    char *absolute = realpath(directory, NULL);
    if (!absolute) die_errno("%s", directory);
    work_remove_begun(directory);
    char *begun = out_own(absolute, "program");
    const char *why = r->gcc ? gcc_build(r, w, absolute, begun) : clang_build(r, w, absolute, begun);
    /* last: where the executable is, the rest is; what counts runs, or is not laid out yet, never has its name */
    if (!why && rename(begun, exe) != 0) die_errno("%s", exe);
    if (why) unlink(begun);
    free(begun);
    free(directory);
    free(absolute);
    return why;
}
