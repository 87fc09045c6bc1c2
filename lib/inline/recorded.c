/* recorded.c - see recorded.h */
#include "inline/recorded.h"
#include "inline/wrap.h"
#include "base/message.h"
#include "measure/child.h"
#include "tree/json.h"
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *absolute(const char *directory, const char *word)
{
    return word[0] == '/' ? xstrdup(word) : xformat("%s/%s", directory, word);
}

static bool same_words(char *const *a, char *const *b)
{
    while (*a && *b && strcmp(*a, *b) == 0) a++, b++;
    return !*a && !*b;
}

/* of one source with the same flags there is one unit: an object may be linked twice, or compiled for two programs;
 * with other flags it is another, or, `once`, left out: which of them are in one program is not known then */
static void add_unit(struct recorded *r, const char *directory, const char *source, char **flags, bool once)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct unit *u = &r->unit[i];
        if (strcmp(u->directory, directory) != 0 || strcmp(u->source, source) != 0) continue;
        bool same = same_words(u->flags, flags);
        if (once && !same) warn("%s: compiled twice, with other flags; the first ones are taken", source);
        if (once || same) return;
    }
    r->unit = grow(r->unit, r->n + 1, &r->cap, sizeof *r->unit);
    r->unit[r->n++] = (struct unit){ xstrdup(directory), xstrdup(source), flags, 0 };
}

/* the next unit of the link is this one, if the program has it */
static void take_order(struct recorded *r, const char *path, const char *archive, const char *directory,
                       const char *source)
{
    char *end;
    unsigned long number = strtoul(archive, &end, 10);
    if (*end || end == archive || number > r->n + 1000)
        die("%s: record: '%s' is no number of an archive", path, archive);
    for (size_t i = r->ordered; i < r->n; i++) {
        if (strcmp(r->unit[i].directory, directory) != 0 || strcmp(r->unit[i].source, source) != 0) continue;
        struct unit u = r->unit[i];
        memmove(&r->unit[r->ordered + 1], &r->unit[r->ordered], (i - r->ordered) * sizeof u);
        u.archive = number;
        r->unit[r->ordered++] = u;
        return;
    }
}

static void take_line(struct recorded *r, const char *path, const char *line)
{
    const char *why;
    char **word = shell_words(line, &why);
    if (!word) die("%s: record '%s': %s", path, line, why);
    size_t n = 0;
    while (word[n]) n++;
    if (n >= 4 && strcmp(word[1], "compile") == 0) add_unit(r, word[2], word[3], word + 4, false);
    else if (n >= 3 && strcmp(word[1], "link") == 0) {
        struct args a = { 0 };
        for (size_t i = 3; i < n; i++)
            arg(&a, strncmp(word[i], "-L", 2) == 0 ? xformat("-L%s", absolute(word[2], word[i] + 2)) : word[i]);
        r->libraries = a.v ? a.v : xcalloc(1, sizeof *a.v);
    } else if (n == 5 && strcmp(word[1], "order") == 0) take_order(r, path, word[2], word[3], word[4]);
    else die("%s: record '%s' is none of compile, link, order", path, line);
}

static void take_lines(struct recorded *r, const char *path, str text)
{
    for (const char *p = text.s, *end = text.s + text.n; p < end;) {
        const char *e = memchr(p, '\n', (size_t)(end - p));
        if (*p == 0) {                                   /* between the sections of two objects */
            p++;
            continue;
        }
        if (!e) die("%s: the record of its compilations ends early", path);
        char *line = xformat("%.*s", (int)(e - p), p);
        take_line(r, path, line);
        free(line);
        p = e + 1;
    }
}

static void of_file(struct recorded *r, const char *path)
{
    struct buf b = { 0 };
    if (!file_read(path, &b)) die_errno("%s", path);
    str compiled = elf_section(&b, WRAP_SECTION), linked = elf_section(&b, WRAP_LINK_SECTION);
    if (compiled.n == 0)
        die("%s: no record of its compilations: build it with CC=inline-cc (CXX='inline-cc --c++'), do not strip it",
            path);
    take_lines(r, path, compiled);
    take_lines(r, path, linked);
    if (r->n == 0) die("%s: its record names no compilation", path);
    if (!r->libraries) r->libraries = xcalloc(1, sizeof *r->libraries);
    free(b.s);
}

/* nftw has no closure */
static const char *wanted;
static char *found;
static time_t found_time;

static int visit(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    if (kind != FTW_F || strcmp(path + at->base, wanted) != 0 || !(st->st_mode & 0111)) return 0;
    struct buf b = { 0 };
    if (!file_read(path, &b)) die_errno("%s", path);
    if (elf_section(&b, WRAP_SECTION).n && (!found || st->st_mtime > found_time)) {
        free(found);
        found = xstrdup(path);
        found_time = st->st_mtime;
    }
    free(b.s);
    return 0;
}

void recorded_of_build(struct recorded *r, const char *directory, const char *name)
{
    *r = (struct recorded){ 0 };
    if (!name) {
        of_file(r, directory);
        return;
    }
    wanted = name;
    found = NULL;
    if (nftw(directory, visit, 32, FTW_PHYS) != 0) die_errno("%s", directory);
    if (!found) die("%s: no program '%s' that was built with CC=inline-cc", directory, name);
    of_file(r, found);
    free(found);
}

static char **string_array(jsonr *j)
{
    struct args a = { 0 };
    for (enum json t; (t = json_next(j)) != JSON_ARRAY_END;) {
        if (t != JSON_STRING) json_die(j, "arguments are strings");
        arg(&a, xformat("%.*s", (int)json_str(j).n, json_str(j).s));
    }
    return a.v;
}

static void take_entry(struct recorded *r, jsonr *j)
{
    char *directory = NULL, *file = NULL, **argv = NULL;
    const char *why;
    for (str key; json_key(j, &key);) {
        bool is_directory = str_is(key, "directory"), is_file = str_is(key, "file"),
             is_command = str_is(key, "command");
        bool is_arguments = str_is(key, "arguments");
        if (!is_directory && !is_file && !is_command && !is_arguments) {
            json_skip(j);
            continue;
        }
        enum json t = json_next(j);
        if (is_arguments ? t != JSON_ARRAY : t != JSON_STRING) json_die(j, "a value of another kind");
        if (is_arguments) {
            argv = string_array(j);
            continue;
        }
        char *text = xformat("%.*s", (int)json_str(j).n, json_str(j).s);
        if (is_directory) directory = text;
        else if (is_file) file = text;
        else if (!(argv = shell_words(text, &why))) json_die(j, "command: %s", why);
    }
    if (!directory || !file || !argv || !argv[0]) json_die(j, "an entry without directory, file, command or arguments");
    struct command c;
    command_parse(&c, argv + 1);
    add_unit(r, directory, file, c.flags.v ? c.flags.v : xcalloc(1, sizeof *argv), true);
}

void recorded_of_commands(struct recorded *r, const char *path)
{
    *r = (struct recorded){ 0 };
    jsonr *j = json_open(path);
    if (json_next(j) != JSON_ARRAY) json_die(j, "not an array of compile commands");
    for (enum json t; (t = json_next(j)) != JSON_ARRAY_END;) {
        if (t != JSON_OBJECT) json_die(j, "a compile command is an object");
        take_entry(r, j);
    }
    json_close(j);
    if (r->n == 0) die("%s: no compile command", path);
    r->libraries = xcalloc(1, sizeof *r->libraries);
}
