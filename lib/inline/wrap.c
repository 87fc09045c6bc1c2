/* wrap.c - see wrap.h */
#include "inline/wrap.h"
#include "base/message.h"
#include "measure/child.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* options whose value is the next word: for the linker, of dependency files, and of the preprocessor and code */
static const char *const link_pair[] = { "-l", "-L", "-Xlinker", "-T", "-u", "-z", "-e", "-rpath", NULL };
static const char *const drop_pair[] = { "-MF", "-MT", "-MQ", "-o", NULL };
static const char *const keep_pair[] = { "-I",        "-D",      "-U",      "-include",    "-imacros", "-isystem",
                                         "-iquote",   "-x",      "-mllvm",  "-idirafter",  "-Xclang",  "-Xpreprocessor",
                                         "-isysroot", "-target", "--param", "-Xassembler", "-arch",    "-aux-info",
                                         NULL };
static const char *const endings[] = { ".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".i", ".ii", NULL };

static bool one_of(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0) return true;
    return false;
}

static bool starts(const char *word, const char *with)
{
    return strncmp(word, with, strlen(with)) == 0;
}

static bool is_source(const char *word)
{
    const char *dot = strrchr(word, '.');
    return dot && one_of(endings, dot);
}

static bool is_link_word(const char *w)
{
    static const char *const exact[] = { "-shared", "-static", "-pie",           "-no-pie",   "-rdynamic",
                                         "-r",      "-s",      "-static-libgcc", "-nostdlib", NULL };
    return one_of(exact, w) || starts(w, "-l") || starts(w, "-L") || starts(w, "-Wl,") || starts(w, "-fuse-ld");
}

/* what a program of the same objects needs too */
static bool is_library(const char *w)
{
    return starts(w, "-l") || starts(w, "-L") || strcmp(w, "-pthread") == 0 || strcmp(w, "-static") == 0 ||
           strcmp(w, "-rdynamic") == 0 || starts(w, "-Wl,-E") || starts(w, "-Wl,--export-dynamic");
}

void command_parse(struct command *c, char *const *argv)
{
    bool other = false;
    *c = (struct command){ 0 };
    for (size_t i = 0; argv[i]; i++) {
        const char *w = argv[i], *next = argv[i + 1];
        if (strcmp(w, "-c") == 0) c->compiles = true;
        else if (strcmp(w, "-o") == 0 && next) c->output = argv[++i];
        else if (starts(w, "-o") && w[2]) c->output = w + 2;
        else if (strcmp(w, "-E") == 0 || strcmp(w, "-S") == 0 || strcmp(w, "-M") == 0 || strcmp(w, "-MM") == 0 ||
                 strcmp(w, "-") == 0 || starts(w, "-fsyntax-only") || starts(w, "-print") || starts(w, "--print") ||
                 starts(w, "-dump") || starts(w, "-###") || w[0] == '@')
            other = true;
        else if (one_of(drop_pair, w) && next) i++;
        else if (one_of(link_pair, w) && next) {
            if (strcmp(w, "-l") == 0 || strcmp(w, "-L") == 0) arg(&c->libraries, xformat("%s%s", w, next));
            i++;
        } else if (one_of(keep_pair, w) && next) {
            arg(&c->flags, w);
            arg(&c->flags, argv[++i]);
        } else if (starts(w, "-M") || starts(w, "-Wp,-M") ||
                   (starts(w, "-W") && !starts(w, "-Wp,") && !starts(w, "-Wa,") && !starts(w, "-Wl,")))
            continue;
        else if (is_link_word(w) || strcmp(w, "-pthread") == 0) {
            if (is_library(w)) arg(&c->libraries, w);
            if (strcmp(w, "-pthread") == 0) arg(&c->flags, w);
        } else if (w[0] == '-') arg(&c->flags, w);
        else if (is_source(w)) arg(&c->sources, w);
        else arg(&c->inputs, w);
    }
    c->links = !c->compiles && !other && (c->sources.n || c->inputs.n);
    c->compiles = c->compiles && !other && c->sources.n;
}

void command_free(struct command *c)
{
    args_free(&c->sources);
    args_free(&c->flags);
    args_free(&c->libraries);
    args_free(&c->inputs);
}

/* run with the parent's streams; the exit status, 128 + signal when killed */
static int run(char *const *argv)
{
    int status;
    pid_t pid = fork();
    if (pid < 0) die_errno("fork");
    if (pid == 0) {
        execvp(argv[0], argv);
        fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) die_errno("wait");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* add a line to an object or program; a build never fails because of it; what configure tries is thrown away */
static void record(const char *kind, const char *source, char *const *words, const char *object)
{
    if (source && starts(source, "conftest.")) return;
    char *here = getcwd(NULL, 0);
    struct buf line = { 0 };
    struct memory_file section = memory_file("record");
    if (!here) die_errno("the current directory");
    buf_format(&line, WRAP_MAGIC " %s ", kind);
    shell_quote(&line, here);
    if (source) buf_char(&line, ' ');
    if (source) shell_quote(&line, source);
    for (; words && *words; words++) {
        buf_char(&line, ' ');
        shell_quote(&line, *words);
    }
    buf_char(&line, '\n');
    if (memchr(line.s, '\n', line.n - 1) == NULL) { /* a word with a line end is not recorded */
        memory_file_write(&section, &line);
        char *objcopy = tool_find("objcopy");
        struct args a = { 0 };
        arg(&a, objcopy ? objcopy : "objcopy");
        arg(&a, "--add-section");
        arg(&a, xformat("%s=%s", source ? WRAP_SECTION : WRAP_LINK_SECTION, section.name));
        arg(&a, object);
        tool_run(&a, NULL, NULL, NULL);
        free(objcopy);
    }
    close(section.fd);
    free(line.s);
    free(here);
}

static char *object_of(const char *source)
{
    const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source, *dot = strrchr(base, '.');
    return xformat("%.*s.o", (int)(dot - base), base);
}

/* was it made by us? */
static bool has_record(const char *path)
{
    struct buf b = { 0 };
    char part[65536];
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    bool found = false;
    for (size_t n; !found && (n = fread(part, 1, sizeof part, f)) > 0;) {
        buf_add(&b, part, n);
        found = memmem(b.s, b.n, WRAP_MAGIC " compile ", sizeof WRAP_MAGIC " compile " - 1) != NULL;
        if (b.n > 64) { /* a word may lie across two parts */
            memmove(b.s, b.s + b.n - 64, 64);
            b.n = 64;
        }
    }
    fclose(f);
    free(b.s);
    return found;
}

/* sources and link in one command: each source to an object beside the program first, so that it has a record */
static int compile_and_link(const char *compiler, char *const *argv, struct command *c)
{
    struct args last = { 0 };
    char **object = xcalloc(c->sources.n + 1, sizeof *object);
    int status = 0;
    arg(&last, compiler);
    for (size_t k = 0; k < c->sources.n && status == 0; k++) {
        struct args a = { 0 };
        object[k] = xformat("%s.%ld.%zu.o", c->output ? c->output : "a.out", (long)getpid(), k);
        arg(&a, compiler);
        for (size_t i = 0; argv[i]; i++) { /* as given, without other files and what names the result */
            if (strcmp(argv[i], "-o") == 0 && argv[i + 1]) i++;
            else if (is_source(argv[i]) ? argv[i] == c->sources.v[k] : true) {
                bool file = false;
                for (size_t j = 0; j < c->inputs.n; j++) file = file || c->inputs.v[j] == argv[i];
                if (!file && !is_link_word(argv[i])) arg(&a, argv[i]);
            }
        }
        arg(&a, "-c");
        arg(&a, "-o");
        arg(&a, object[k]);
        status = run(a.v);
        if (status == 0) record("compile", c->sources.v[k], c->flags.v, object[k]);
        args_free(&a);
    }
    size_t k = 0;
    for (size_t i = 0; argv[i]; i++) arg(&last, k < c->sources.n && argv[i] == c->sources.v[k] ? object[k++] : argv[i]);
    if (status == 0) status = run(last.v);
    for (size_t i = 0; i < c->sources.n; i++) {
        if (object[i]) unlink(object[i]);
        free(object[i]);
    }
    free(object);
    args_free(&last);
    return status;
}

int wrap_run(const char *compiler, char *const *argv)
{
    struct command c;
    struct args a = { 0 };
    int status;
    command_parse(&c, argv);
    arg(&a, compiler);
    args(&a, argv);
    if (c.links && c.sources.n) status = compile_and_link(compiler, argv, &c);
    else status = run(a.v);
    for (size_t k = 0; status == 0 && c.compiles && k < c.sources.n; k++) {
        char *object = c.output ? xstrdup(c.output) : object_of(c.sources.v[k]);
        record("compile", c.sources.v[k], c.flags.v, object);
        free(object);
    }
    if (status == 0 && c.links) {
        struct args libraries = { 0 };
        char *here = getcwd(NULL, 0);
        for (size_t i = 0; i < c.inputs.n; i++) /* objects and archives that are not ours stay what they are */
            if (!has_record(c.inputs.v[i]))
                arg(&libraries, c.inputs.v[i][0] == '/' ? c.inputs.v[i] : xformat("%s/%s", here, c.inputs.v[i]));
        args(&libraries, c.libraries.v);
        record("link", NULL, libraries.v, c.output ? c.output : "a.out");
        args_free(&libraries);
        free(here);
    }
    args_free(&a);
    command_free(&c);
    return status;
}
