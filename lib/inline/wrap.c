/* wrap.c - see wrap.h */
#include "inline/wrap.h"
#include "base/message.h"
#include "base/out.h"
#include "measure/child.h"
#include "measure/count.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* options of dependency files whose value is the next word; others: flag_of_link(), flag_has_value() */
static const char *const drop_pair[] = { "-MF", "-MT", "-MQ", "-o", NULL };
static const char *const endings[] = { ".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".i", ".ii", NULL };

static bool starts(const char *word, const char *with)
{
    return strncmp(word, with, strlen(with)) == 0;
}

static bool is_source(const char *word)
{
    const char *dot = strrchr(word, '.');
    return dot && one_of(endings, dot);
}

/* what a program of the same objects needs too */
static bool is_library(const char *w)
{
    return starts(w, "-l") || starts(w, "-L") || strcmp(w, "-pthread") == 0 || strcmp(w, "-static") == 0 ||
           strcmp(w, "-rdynamic") == 0 || starts(w, "-Wl,-E") || starts(w, "-Wl,--export-dynamic") ||
           starts(w, "-Wl,--wrap");
}

void command_parse(struct command *c, char *const *argv)
{
    bool other = false;
    *c = (struct command){ 0 };
    for (size_t i = 0; argv[i]; i++) {
        const char *w = argv[i], *next = argv[i + 1];
        const size_t link = flag_of_link(argv + i);
        if (strcmp(w, "-c") == 0) c->compiles = true;
        else if (strcmp(w, "-o") == 0 && next) c->output = argv[++i];
        else if (starts(w, "-o") && w[2]) c->output = w + 2;
        else if (strcmp(w, "-E") == 0 || strcmp(w, "-S") == 0 || strcmp(w, "-M") == 0 || strcmp(w, "-MM") == 0 ||
                 strcmp(w, "-") == 0 || starts(w, "-fsyntax-only") || starts(w, "-print") || starts(w, "--print") ||
                 starts(w, "-dump") || starts(w, "-###") || w[0] == '@')
            other = true;
        else if (one_of(drop_pair, w) && next) i++;
        else if (link == 2) {
            if (strcmp(w, "-l") == 0 || strcmp(w, "-L") == 0) {
                char *whole = xformat("%s%s", w, next);
                arg(&c->libraries, whole);
                arg(&c->order, whole);
            }
            i++;
        } else if (starts(w, "-M") || starts(w, "-Wp,-M") ||
                   (starts(w, "-W") && !starts(w, "-Wp,") && !starts(w, "-Wa,") && !starts(w, "-Wl,")))
            continue;
        else if (link || strcmp(w, "-pthread") == 0) {
            if (is_library(w)) arg(&c->libraries, w);
            if (is_library(w)) arg(&c->order, w);
            if (strcmp(w, "-pthread") == 0) arg(&c->flags, w);
        } else if (w[0] == '-') i += flag_take(&c->flags, argv + i) - 1;
        else {
            arg(is_source(w) ? &c->sources : &c->inputs, w);
            arg(&c->order, w);
        }
    }
    c->links = !c->compiles && !other && (c->sources.n || c->inputs.n);
    c->compiles = c->compiles && !other && c->sources.n;
}

static void command_free(struct command *c)
{
    args_free(&c->sources);
    args_free(&c->flags);
    args_free(&c->libraries);
    args_free(&c->inputs);
    args_free(&c->order);
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

/* Add lines to an object or program.  objcopy writes aside, since it would leave half of a file that the disk has no
 * room for in the place of a whole one. */
static void record(const char *section, const struct buf *lines, const char *object)
{
    char *path = realpath(object, NULL), *folder = path ? xstrdup(path) : NULL;
    if (!path) die_errno("%s", object);
    if (!out_may_replace(path)) return;                  /* -o /dev/null, of who only asks whether it compiles */
    *strrchr(folder, '/') = 0;
    char *with = out_own(folder, "recorded");
    struct memory_file file = memory_file("record");
    memory_file_write(&file, lines);
    char *objcopy = program_path("objcopy");
    struct args a = { 0 };
    arg(&a, objcopy ? objcopy : "objcopy");
    arg(&a, "--add-section");
    arg(&a, xformat("%s=%s", section, file.name));
    arg(&a, path);
    arg(&a, with);
    const char *why = tool_run(&a, NULL, NULL, NULL);
    if (why) die("%s", why);
    if (rename(with, path) != 0) die_errno("%s", path);
    free_all(objcopy, path, folder, with);
    close(file.fd);
}

/* A build never fails because of its record: this is made in a process of its own, and what that dies of is said. */
static void record_apart(void (*make)(const struct command *, const char *source, const char *object),
                         const struct command *c, const char *source, const char *object)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        make(c, source, object);
        exit(0);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) break;
    if (pid < 0 || status != 0) warn("%s: how it was made is not recorded in it", object);
}

/* one line; nothing where a word has a line end */
static void add_line(struct buf *lines, const char *kind, char *const *words)
{
    size_t before = lines->n;
    buf_format(lines, WRAP_MAGIC " %s", kind);
    for (; words && *words; words++) {
        buf_char(lines, ' ');
        shell_quote(lines, *words);
    }
    if (memchr(lines->s + before, '\n', lines->n - before)) lines->n = before;
    else buf_char(lines, '\n');
}

static void record_compile(const struct command *c, const char *source, const char *object)
{
    if (starts(source, "conftest.")) return;             /* what configure tries is thrown away */
    struct buf lines = { 0 };
    struct args words = { 0 };
    char *here = getcwd(NULL, 0);
    if (!here) die_errno("the current directory");
    arg(&words, here);
    arg(&words, source);
    args(&words, c->flags.v);
    add_line(&lines, "compile", words.v);
    if (lines.n) record(WRAP_SECTION, &lines, object);
    args_free(&words);
    free(lines.s);
    free(here);
}

static char *object_of(const char *source)
{
    const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source, *dot = strrchr(base, '.');
    return xformat("%.*s.o", (int)(dot - base), base);
}

/* ---- the order of the link: which compilations each object and archive holds */

#define THIN "!<thin>\n"

/* The files that a thin archive names (ar's T; meson makes such), one after the other: it holds none of them itself.
 * A header is 60 bytes: a name of 16, the size at 48; a name /N stands N bytes into the member // and ends in "/\n". */
static struct buf read_thin(const char *path, const struct buf *archive)
{
    struct buf all = { 0 };
    str names = { "", 0 };
    const char *end = archive->s + archive->n, *slash = strrchr(path, '/');
    int folder = slash && slash != path ? (int)(slash - path) : 1;
    for (const char *p = archive->s + strlen(THIN); end - p >= 60;) {
        const char *data = p + 60;
        bool table = p[0] == '/' && (p[1] < '0' || p[1] > '9');  /* of symbols or names: the only data there are */
        char number[17] = "";
        memcpy(number, table ? p + 48 : p + 1, table ? 10 : 15);
        size_t n = strtoull(number, NULL, 10);
        if (table) {
            if (n > (size_t)(end - data)) break;
            if (p[1] == '/') names = (str){ data, n };
            p = data + n + (n % 2 && n < (size_t)(end - data));
            continue;
        }
        str name = p[0] != '/' ? (str){ p, 16 } : n < names.n ? (str){ names.s + n, names.n - n } : (str){ "", 0 };
        const char *stop = p[0] != '/' ? memchr(p, '/', 16) : memmem(name.s, name.n, "/\n", 2);
        if (stop) {
            char *file = name.s[0] == '/' || !slash ? xformat("%.*s", (int)(stop - name.s), name.s)
                                                    : xformat("%.*s/%.*s", folder, path, (int)(stop - name.s), name.s);
            file_read(file, &all);
            free(file);
        }
        p = data;
    }
    return all;
}

static struct buf read_input(const char *path)
{
    struct buf b = { 0 };
    file_read(path, &b);
    if (b.n < strlen(THIN) || memcmp(b.s, THIN, strlen(THIN)) != 0) return b;
    struct buf members = read_thin(path, &b);
    free(b.s);
    return members;
}

/* a line for each compilation in the file, which is archive number `archive` or, 0, an object; whether there is one */
static bool add_order(struct buf *lines, const char *path, size_t archive)
{
    static const char magic[] = WRAP_MAGIC " compile ";
    struct buf b = read_input(path);
    bool any = false;
    const char *end = b.s + b.n, *why;
    for (const char *p = b.s, *q; p && (q = memmem(p, (size_t)(end - p), magic, sizeof magic - 1)); p = q + 1) {
        const char *stop = memchr(q, '\n', (size_t)(end - q));
        char *line = stop ? xformat("%.*s", (int)(stop - q), q) : NULL, **word = line ? shell_words(line, &why) : NULL;
        if (word && word[2] && word[3]) {
            char *words[] = { xformat("%zu", archive), word[2], word[3], NULL };
            add_line(lines, "order", words);
            free(words[0]);
            any = true;
        }
        free(line);
    }
    free(b.s);
    return any;
}

/* the archive that -lNAME stands for, where it lies in a folder given by -L before a shared library of that name */
static char *library_file(const struct command *c, const char *name)
{
    for (char *const *w = c->libraries.v; w && *w; w++) {
        if (!starts(*w, "-L")) continue;
        char *shared = xformat("%s/lib%s.so", *w + 2, name), *path = xformat("%s/lib%s.a", *w + 2, name);
        bool is_shared = access(shared, R_OK) == 0, is_static = access(path, R_OK) == 0;
        free(shared);
        if (!is_shared && is_static) return path;
        free(path);
        if (is_shared) break;
    }
    return NULL;
}

/* libraries: what is not ours, for the linker; order: what is */
static void record_link(const struct command *c, const char *source, const char *program)
{
    (void)source;
    struct args words = { 0 };
    struct buf order = { 0 }, lines = { 0 };
    char *here = getcwd(NULL, 0);
    size_t archives = 0;
    if (!here) die_errno("the current directory");
    arg(&words, here);
    for (char *const *w = c->order.v; w && *w; w++) {
        char *library = starts(*w, "-l") ? library_file(c, *w + 2) : NULL;
        if (is_source(*w)) {
            struct args one = { 0 };
            arg(&one, "0");
            arg(&one, here);
            arg(&one, *w);
            add_line(&order, "order", one.v);
            args_free(&one);
        } else if (library || (*w)[0] != '-') {
            const char *path = library ? library : *w, *dot = strrchr(path, '.');
            bool archive = dot && strcmp(dot, ".a") == 0, ours = add_order(&order, path, archive ? archives + 1 : 0);
            archives += archive && ours;
            if (!ours && !library) arg(&words, path[0] == '/' ? path : xformat("%s/%s", here, path));
        }
        free(library);
    }
    args(&words, c->libraries.v);
    add_line(&lines, "link", words.v);
    if (order.n) buf_add(&lines, order.s, order.n);
    record(WRAP_LINK_SECTION, &lines, program);
    args_free(&words);
    free(order.s);
    free(lines.s);
    free(here);
}

/* -MMD writes a file that is named after the result and says what that is made from: not after the object beside it */
static void name_dependencies(struct args *a, char *const *argv, const struct command *c, const char *source)
{
    bool wanted = false, file = false, target = false;
    for (; *argv; argv++) {
        wanted |= strcmp(*argv, "-MD") == 0 || strcmp(*argv, "-MMD") == 0;
        file |= starts(*argv, "-MF");
        target |= starts(*argv, "-MT") || starts(*argv, "-MQ");
    }
    if (!wanted) return;
    char *result = c->output ? xstrdup(c->output) : object_of(source), *slash = strrchr(result, '/');
    const char *dot = strrchr(slash ? slash + 1 : result, '.');
    int stem = dot ? (int)(dot - result) : (int)strlen(result);
    if (!file) arg(a, "-MF"), arg(a, xformat("%.*s.d", stem, result));
    if (!target) arg(a, "-MQ"), arg(a, result);
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
            const size_t link = flag_of_link(argv + i);
            if (link == 2 || (strcmp(argv[i], "-o") == 0 && argv[i + 1])) i++;
            else if (is_source(argv[i]) ? argv[i] == c->sources.v[k] : true) {
                bool file = false;
                for (size_t j = 0; j < c->inputs.n; j++) file = file || c->inputs.v[j] == argv[i];
                if (!file && !link) arg(&a, argv[i]);
            }
        }
        name_dependencies(&a, argv, c, c->sources.v[k]);
        arg(&a, "-c");
        arg(&a, "-o");
        arg(&a, object[k]);
        status = run(a.v);
        if (status == 0) record_apart(record_compile, c, c->sources.v[k], object[k]);
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
        record_apart(record_compile, &c, c.sources.v[k], object);
        free(object);
    }
    if (status == 0 && c.links) record_apart(record_link, &c, NULL, c.output ? c.output : "a.out");
    args_free(&a);
    command_free(&c);
    return status;
}
