/* profile.c - see profile.h */
#include "inline/profile.h"
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

void units_link_words(struct args *a, const struct program *p, char *const *object, bool archives)
{
    size_t open = 0;
    for (size_t k = 0; k < p->nunits; k++) {
        size_t archive = archives ? p->unit[k].archive : 0;
        if (open && archive != open) arg(a, "-Wl,--end-lib");
        if (archive && archive != open) arg(a, "-Wl,--start-lib");
        open = archive;
        arg(a, object[k]);
    }
    if (open) arg(a, "-Wl,--end-lib");
}

const char *units_build(const char *driver, const struct program *p, const struct args *compile,
                        const struct args *link, const char *directory, const char *exe)
{
    static char sentence[600];
    const char *why = NULL;
    struct args last = { 0 };
    char **object = xcalloc(p->nunits + 1, sizeof *object);
    bool lld = false;
    for (size_t i = 0; i < link->n; i++) lld = lld || strcmp(link->v[i], "-fuse-ld=lld") == 0;
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) die_errno("%s", directory);
    arg(&last, driver);
    args(&last, link->v);
    for (size_t k = 0; k < p->nunits && !why; k++) {
        struct args a = { 0 };
        object[k] = xformat("%s/%zu.o", directory, k);
        arg(&a, driver);
        arg(&a, "-w");
        unit_flags(&a, &p->unit[k]);
        args(&a, compile->v);
        arg(&a, "-c");
        arg(&a, p->unit[k].source);
        arg(&a, "-o");
        arg(&a, object[k]);
        why = tool_run(&a, p->unit[k].directory, NULL, NULL);
        if (why) {
            snprintf(sentence, sizeof sentence, "%s: %s", p->unit[k].source, why);
            why = sentence;
        }
    }
    units_link_words(&last, p, object, lld);
    args(&last, p->libraries);
    arg(&last, "-o");
    arg(&last, exe);
    if (why) args_free(&last);
    else why = tool_run(&last, NULL, NULL, NULL);
    for (size_t k = 0; k < p->nunits; k++) free(object[k]);
    free(object);
    return why;
}

const char *units_run(const struct program *p, const char *exe, const char *name, const char *value)
{
    static char sentence[200];
    for (size_t i = 0; i < p->nsearch; i++) {
        const struct program_run *r = &p->search_run[i];
        char *here = name ? xformat("%s%zu", value, i) : NULL;
        if (name) setenv(name, here, 1);
        free(here);
        r->argv[0] = (char *)(uintptr_t)exe;
        struct child c = { .argv = r->argv,
                           .directory = p->directory,
                           .input = r->input,
                           .limits = { .wall_seconds = 300, .output_bytes = (uint64_t)1 << 32 } };
        struct ran ran = child_run(&c);
        if (name) unsetenv(name);
        if (ran.how == RAN_EXIT && ran.code == r->status) continue;
        if (ran.how == RAN_EXIT)
            snprintf(sentence, sizeof sentence, "the instrumented run %zu ends with exit status %d, not %d", i + 1,
                     ran.code, r->status);
        else snprintf(sentence, sizeof sentence, "the instrumented run %zu ended by %s", i + 1, ran_word(&ran));
        return sentence;
    }
    return NULL;
}

void profile_use_words(struct args *a, const char *kind, const char *data)
{
    if (strcmp(kind, "fe") == 0) {
        arg(a, xformat("-fprofile-instr-use=%s", data));
        return;
    }
    if (strcmp(kind, "irn") == 0) {
        arg(a, "-mllvm");
        arg(a, "-disable-preinline");
    }
    arg(a, xformat("-fprofile-use=%s", data));
}

const char *profile_make(const struct llvm *l, const struct program *p, const char *kind, const char *data)
{
    const char *slash = strrchr(data, '/');
    char *beside = xformat("%.*s", slash ? (int)(slash - data) : 1, slash ? data : ".");
    char *own = out_own(beside, "profile");              /* killed, a compiler leaves more in it than we know of */
    char *exe = xformat("%s/run", own), *raw = xformat("%s/raw", own), *merged = xformat("%s/merged", own);
    char *tool = xformat("llvm-profdata-%d", l->version), *merge = program_path(tool);
    struct args compile = { 0 }, link = { 0 }, a = { 0 };
    const char *generate = strcmp(kind, "fe") == 0 ? "-fprofile-instr-generate" : "-fprofile-generate", *why = NULL;
    static const char by_exit[] = "no profile: a run that ends by _exit leaves none";
    if (!merge) return "no llvm-profdata of this version (apt install llvm)";
    arg(&compile, "-O2");
    arg(&compile, generate);
    if (strcmp(kind, "irn") == 0) {
        arg(&compile, "-mllvm");
        arg(&compile, "-disable-preinline");
    }
    arg(&link, "-no-pie");
    arg(&link, generate);
    if (strcmp(kind, "irn") == 0) {
        arg(&link, "-Wno-unused-command-line-argument");
    }
    why = units_build(l->clang, p, &compile, &link, own, exe);
    if (!why) why = units_run(p, exe, "LLVM_PROFILE_FILE", raw);
    arg(&a, merge);
    arg(&a, "merge");
    arg(&a, "-o");
    arg(&a, merged);
    for (size_t i = 0; i < p->nsearch; i++) {
        char *one = xformat("%s%zu", raw, i);
        struct stat s;
        if (stat(one, &s) == 0 && s.st_size > 0) arg(&a, one);
        else if (!why) warn("%s: search run %zu: %s", p->name, i + 1, by_exit);
    }
    if (!why && a.n == 4) why = by_exit;
    if (!why) why = tool_run(&a, NULL, NULL, NULL);
    else args_free(&a);
    if (!why && rename(merged, data) != 0) die_errno("%s", data);
    args_free(&compile);
    args_free(&link);
    free_all(beside, own, exe, raw, tool, merge, merged);
    return why;
}
