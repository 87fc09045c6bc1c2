/* emit.c - see emit.h */
#include "inline/emit.h"
#include "inline/lto.h"
#include "inline/tool.h"
#include "base/message.h"
#include "base/out.h"
#include "measure/count.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ROUNDS = 10 };

/* deny a call in every function where it is asked about before it reaches the last: the beginnings of its chain */
static void deny_before(struct live *list, const struct live *yes, const struct live_site *s)
{
    str bare = site_bare(s->site.chain), stage = site_stage(s->site.chain);
    for (const char *p = bare.s, *end = bare.s + bare.n, *q; (q = memmem(p, (size_t)(end - p), " @ ", 3)); p = q + 3) {
        char *chain = xformat("%.*s @ %.*s", (int)(q - bare.s), bare.s, (int)stage.n, stage.s);
        const struct live_site *have = live_find(yes, (struct site){ s->site.callee, str_of(chain) });
        if (!have || !have->inlined) live_add(list, (struct site){ s->site.callee, str_of(chain) }, false);
        free(chain);
    }
}

static void first_list(struct live *list, const struct live *did)
{
    for (size_t i = 0; i < did->n; i++) {
        live_add(list, did->v[i].site, did->v[i].inlined);
        deny_before(list, did, &did->v[i]);
    }
    live_sort(list);
}

/* what the open build inlines besides is denied from now on; how many calls differ */
static size_t compare(struct live *list, const struct live *did, const struct live *open)
{
    size_t differ = 0;
    for (size_t i = 0; i < open->n; i++) {
        const struct live_site *s = &open->v[i], *d = live_find(did, s->site);
        if (!s->inlined || (d && d->inlined)) continue;
        live_add(list, s->site, false);
        deny_before(list, did, s);
        differ++;
    }
    for (size_t i = 0; i < did->n; i++) {
        const struct live_site *o = live_find(open, did->v[i].site);
        differ += did->v[i].inlined && !(o && o->inlined);
    }
    live_sort(list);
    return differ;
}

/* hash of the section .text of an ELF64 file; 0 when it has none */
static uint64_t text_hash(const char *exe)
{
    struct buf b = { 0 };
    if (!file_read(exe, &b)) die_errno("%s", exe);
    str text = elf_section(&b, ".text");
    uint64_t hash = text.n ? hash_bytes(text.s, text.n, 1) : 0;
    free(b.s);
    return hash;
}

static void write_stage(const char *directory, const char *stage, const struct live *list)
{
    char *path = xformat("%s/%s.replay", directory, stage);
    struct buf text = { 0 };
    struct out *o = out_open(path);
    lto_replay_text(&text, list, stage, true);
    if (text.n) fwrite(text.s, 1, text.n, out_file(o));
    out_close(o);
    free(text.s);
    free(path);
}

static void copy_file(const char *from, const char *to)
{
    struct buf b = { 0 };
    if (!file_read(from, &b)) die_errno("%s", from);
    struct out *o = out_open(to);
    fwrite(b.s, 1, b.n, out_file(o));
    out_close(o);
    free(b.s);
}

static void write_words(FILE *f, const char *name, const struct args *a)
{
    fprintf(f, "%s =", name);
    for (size_t i = 0; i < a->n; i++) {
        struct buf word = { 0 };
        shell_quote(&word, a->v[i]);
        fprintf(f, " %.*s", (int)word.n, word.s);
        free(word.s);
    }
    fputc('\n', f);
}

/* Flags of the program's own that all its sources have: they were in the CFLAGS that ours take the place of.  Not what
 * has a value in the next word, nor folders, which a build names by itself. */
static void own_words(struct args *a, const struct program *p)
{
    static const char *const kinds[] = { "-D", "-U", "-f", "-m", "-std=", "-pthread", "-ansi" };
    struct args first = { 0 };
    unit_flags(&first, &p->unit[0]);
    for (size_t i = 0; i < first.n; i++) {
        const char *word = first.v[i];
        bool take = false;
        if (flag_has_value(word)) {
            i++;
            continue;
        }
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            take = take || (strncmp(word, kinds[k], strlen(kinds[k])) == 0 && word[2]);
        for (size_t k = 1; k < p->nunits && take; k++) {
            bool has = false;
            for (char *const *f = p->unit[k].flags; f && *f; f++) has = has || strcmp(*f, word) == 0;
            take = has;
        }
        if (take) arg(a, word);
    }
    args_free(&first);
}

static void write_flags(const struct work *w, const char *level, const char *directory)
{
    char *path = xformat("%s/flags.mk", directory), *data = lto_profile_path(w->path, w->profile), *copy = NULL;
    struct args compile = { 0 }, link = { 0 };
    if (data) copy_file(data, copy = lto_profile_path(directory, w->profile));
    own_words(&compile, w->program);
    lto_compile_words(&compile, level, w->profile, copy);
    lto_replay_words(&compile, xformat("%s/compile.replay", directory), true, false);
    lto_link_words(&link, w->llvm, level);
    lto_replay_words(&link, xformat("%s/link.replay", directory), true, true);
    struct out *o = out_open(path);
    FILE *f = out_file(o);
    fprintf(f, "# inlining decisions of %s for %s: make -f Makefile CC=... or include this file\n", w->program->name,
            w->compiler);
    fprintf(f, "CC = clang-%d\nCXX = clang++-%d\nAR = llvm-ar-%d\nRANLIB = llvm-ranlib-%d\n", w->llvm->version,
            w->llvm->version, w->llvm->version, w->llvm->version);
    write_words(f, "CFLAGS", &compile);
    fputs("CXXFLAGS = $(CFLAGS)\n", f);
    write_words(f, "LDFLAGS", &link);
    out_close(o);
    args_free(&compile);
    args_free(&link);
    free(path);
    free(data);
    free(copy);
}

const char *emit_replay(const struct work *w, const char *level, const struct live *wanted, const char *where,
                        struct emitted *e)
{
    if (w->scope != SCOPE_LTO) return "its decisions are of a pipeline that only exists here: see inline-module --lto";
    if (w->missing) return w->missing;
    if (mkdir(where, 0777) != 0 && errno != EEXIST) die_errno("%s", where);
    char *directory = realpath(where, NULL), *work = realpath(w->path, NULL);
    if (!directory) die_errno("%s", where);
    if (!work) die_errno("%s", w->path);
    char *closed = xformat("%s/.closed", directory), *open = xformat("%s/.open", directory);
    struct live did = { 0 }, list = { 0 }, now = { 0 };
    struct build b = { .work = work,
                       .program = w->program,
                       .scope = SCOPE_LTO,
                       .profile = w->profile,
                       .level = level,
                       .wanted = wanted,
                       .exe = closed,
                       .sites = true };
    *e = (struct emitted){ 0 };
    const char *why = lto_build(w->llvm, &b, &did);
    live_sort(&did);
    first_list(&list, &did);
    b.wanted = &list;
    b.open = true;
    b.exe = open;
    for (bool again = !why; again && !why;) {
        live_clear(&now);
        why = lto_build(w->llvm, &b, &now);
        live_sort(&now);
        e->differ = why ? 0 : compare(&list, &did, &now);
        again = ++e->rounds < MOST_ROUNDS && e->differ;
    }
    for (size_t i = 0; !why && i < (wanted ? wanted->n : 0); i++) {
        const struct live_site *s = live_find(&did, wanted->v[i].site);
        e->asked += wanted->v[i].inlined;
        e->applied += wanted->v[i].inlined && s && s->inlined;
    }
    if (!why) {
        e->same_text = text_hash(closed) == text_hash(open);
        e->text_bytes = count_size(closed).value[COUNT_TEXT];
        e->open_text_bytes = count_size(open).value[COUNT_TEXT];
        for (size_t i = 0; i < list.n; i++)
            ++(list.v[i].inlined ? e->yes : e->no)[str_is(site_stage(list.v[i].site.chain), "link")];
        write_stage(directory, "compile", &list);
        write_stage(directory, "link", &list);
        write_flags(w, level, directory);
    }
    unlink(closed);
    unlink(open);
    live_free(&did);
    live_free(&list);
    live_free(&now);
    free_all(directory, work, closed, open);
    return why;
}

const char *emit_gcc(const struct work *w, const char *level, const struct live *wanted, const char *where, size_t *n)
{
    if (w->missing) return w->missing;
    if (w->llvm) return "its decisions are of clang's: see inline-module --compiler=gcc";
    if (w->scope != SCOPE_PROGRAM) return "only decisions about the whole program are made where it is linked";
    if (mkdir(where, 0777) != 0 && errno != EEXIST) die_errno("%s", where);
    char *directory = realpath(where, NULL);
    if (!directory) die_errno("%s", where);
    char *decide = xformat("%s/decide.txt", directory), *plugin = xformat("%s/gcc.so", directory),
         *flags = xformat("%s/flags.mk", directory), *made = xformat("%s/gcc.so", w->path);
    struct out *o = out_open(decide);
    struct buf line = { 0 };
    *n = 0;
    for (size_t i = 0; i < wanted->n; i++) {
        const struct live_site *s = &wanted->v[i];
        if (!s->inlined) continue;
        site_key(&line, s->site);
        fprintf(out_file(o), "%.*s\n", (int)line.n, line.s);
        ++*n;
    }
    free(line.s);
    out_close(o);
    copy_file(made, plugin);
    struct args compile = { 0 }, link = { 0 };
    static const char *const late[] = { "-flto", "-fno-early-inlining", "-fno-indirect-inlining" };
    own_words(&compile, w->program);
    arg(&compile, level);
    arg(&compile, "-g1");
    arg(&compile, "-no-integrated-cpp"); /* calls were named by their columns in preprocessed text */
    for (size_t i = 0; i < 3; i++) arg(&compile, late[i]);
    arg(&link, level);
    for (size_t i = 0; i < 3; i++) arg(&link, late[i]);
    arg(&link, "-flto-partition=none");
    arg(&link, "-no-pie");
    arg(&link, xformat("-fplugin=%s", plugin));
    arg(&link, xformat("-fplugin-arg-gcc-decide=%s", decide));
    o = out_open(flags);
    FILE *f = out_file(o);
    fprintf(f, "# inlining decisions of %s for %s: make -f Makefile CC=... or include this file\n", w->program->name,
            w->compiler);
    fprintf(f, "CC = %s\nAR = gcc-ar\nRANLIB = gcc-ranlib\n", w->compiler);
    write_words(f, "CFLAGS", &compile);
    write_words(f, "LDFLAGS", &link);
    out_close(o);
    args_free(&compile);
    args_free(&link);
    free_all(decide, plugin, flags, made, directory);
    return NULL;
}
