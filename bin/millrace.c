/* millrace - five questions about your own program, and filters that answer them
 *
 * Usage: millrace compare 'COMMAND' 'COMMAND'
 *        millrace profile COMMAND ARGUMENT...
 *        millrace inline DIR
 *        millrace kernel KIND SIZE... [OPTION]...
 *        millrace memory SCRIPT.py [ARGUMENT]... --limit=SIZE
 *        millrace FILTER ARGUMENT...
 *        millrace PIPELINE [VARIABLE=VALUE]...
 *        millrace list
 *        millrace help [TOPIC|FILTER]
 *
 * The first five are short ways through filters; each takes -n, which prints
 * the filters that it would run instead of running them, and --help.  Any
 * filter can be run by its name, which then need not be on PATH, and any
 * pipeline: `millrace figure7` leaves its results in ./out.  Topics of help:
 * compare, profile, inline, kernel, memory, tables, pipelines.
 *
 * Examples:
 *   $ millrace compare './old 9' './new 9'
 *   $ millrace profile train.py
 *   $ millrace help tables
 */
#include "base/filter.h"
#include "base/near.h"
#include "base/out.h"
#include "base/str.h"
#include "help/millrace-list.h"
#include HELP
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt options[] = { { 0 } };

/* the folder that this program lies in, and what lies beside it: in a build tree, and where it is installed */
static const char *here(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0) die_errno("/proc/self/exe");
    path[n] = 0;
    *strrchr(path, '/') = 0;
    return path;
}

/* the first of PLACES/NAME, from here(), that `mode` allows, or NULL */
static char *beside(const char *const *places, const char *name, int mode)
{
    for (; *places; places++) {
        char *path = xformat("%s/%s/%s", here(), *places, name);
        if (access(path, mode) == 0) return path;
        free(path);
    }
    return NULL;
}

static const struct entry *filter_called(const char *name)
{
    for (const struct entry *e = entries; e->name; e++) if (strcmp(e->name, name) == 0) return e;
    return NULL;
}

static const char *const ways[] = { "compare", "profile", "inline", "kernel", "memory", NULL };
static bool is_way(const char *name)
{
    for (const char *const *w = ways; *w; w++) if (strcmp(*w, name) == 0) return true;
    return false;
}

/* not to return: runs the program, or says why not */
static void become(char *path, char **argv)
{
    if (path) execv(path, argv);
    die("%s: %s", argv[0], path ? strerror(errno) : "not found beside millrace");
}

static void run_filter(char **argv)
{
    static const char *const places[] = { ".", "../libexec/millrace", NULL };
    become(beside(places, argv[0], X_OK), argv);
}

static void run_way(char **argv)
{
    static const char *const places[] = { "../pipelines/ways", "../share/millrace/pipelines/ways", NULL };
    /* the way finds its filters where this program found itself */
    const char *others = getenv("PATH");
    char *path = xformat("%s:%s/../libexec/millrace:%s", here(), here(), others ? others : "/bin:/usr/bin");
    setenv("PATH", path, 1);
    free(path);
    become(beside(places, argv[0], X_OK), argv);
}

static void run_pipeline(int argc, char **argv)
{
    static const char *const places[] = { "..", "../share/millrace", NULL };
    char *file = beside(places, "Makefile", R_OK);
    if (!file) die("%s: the makefile of the pipelines is not beside millrace", argv[0]);
    char **words = xcalloc((size_t)argc + 6, sizeof *words);
    int n = 0;
    words[n++] = xstrdup("make");
    words[n++] = xstrdup("-s");
    words[n++] = xstrdup("-f");
    words[n++] = file;
    for (int i = 0; i < argc; i++) words[n++] = argv[i];
    execvp("make", words);
    die_errno("make");
}

static const char *text_called(const char *topic)
{
    for (const struct text *t = texts; t->name; t++) if (strcmp(t->name, topic) == 0) return t->text;
    return NULL;
}

/* a target that `help pipelines` lists, between two blanks, or a file that one makes */
static bool is_pipeline(const char *word)
{
    return strncmp(word, "out/", 4) == 0 || (*word && strstr(text_called("pipelines"), xformat("  %s  ", word)));
}

/* VARIABLE=VALUE: what comes before it is a pipeline, not the way or filter of the same name */
static bool is_setting(const char *word)
{
    size_t n = word ? strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") : 0;
    return n && word[n] == '=';
}

static void show_list(void)
{
    for (const struct group *g = groups; g->title; g++) {
        printf("%s%s\n", g == groups ? "" : "\n", g->title);
        for (const struct entry *e = entries; e->name; e++)
            if (strcmp(e->group, g->name) == 0)
                printf("  %-18s %s%s\n", e->name, e->purpose, e->internal ? " (step)" : "");
    }
}

static int show_text(const char *topic)
{
    fputs(text_called(topic), stdout);
    return finish();
}

/* what is nearest to a word that is nothing here; NULL: nothing is near */
static const char *near_to(const char *word, bool topics)
{
    struct near x = { .want = str_of(word) };
    for (const char *const *w = ways; *w; w++) near_offer(&x, str_of(*w));
    for (const struct text *t = texts; topics && t->name; t++) near_offer(&x, str_of(t->name));
    for (const struct entry *e = entries; e->name; e++) near_offer(&x, str_of(e->name));
    return x.best.s;
}

static int show_help(int argc, char **argv)
{
    const char *topic = argc ? argv[0] : "start";
    if (text_called(topic)) return show_text(topic);
    if (filter_called(topic)) {
        char *words[] = { argv[0], xstrdup("--help"), NULL };
        run_filter(words);
    }
    const char *near = near_to(topic, true);
    if (near) usage("no topic '%s'; did you mean '%s'?", topic, near);
    usage("no topic '%s'; see `millrace help` and `millrace list`", topic);
}

int main(int argc, char **argv)
{
    int i = filter_init_strict(argc, argv, help, options);
    if (i == argc) return show_text("start");
    const char *word = argv[i];
    if (strcmp(word, "help") == 0) return show_help(argc - i - 1, argv + i + 1);
    if (strcmp(word, "list") == 0) return show_list(), finish();
    const bool way = is_way(word), filter = filter_called(word);
    if (is_pipeline(word) && ((!way && !filter) || is_setting(argv[i + 1]))) run_pipeline(argc - i, argv + i);
    if (way) run_way(argv + i);
    if (filter) run_filter(argv + i);
    const char *near = near_to(word, false);
    if (near) usage("no '%s'; did you mean '%s'?", word, near);
    struct buf family = { 0 };
    size_t n = strcspn(word, "-");
    for (const struct entry *e = entries; word[n] && e->name; e++)
        if (strncmp(e->name, word, n + 1) == 0) buf_format(&family, "%s%s", family.n ? ", " : "; there are ", e->name);
    usage("no '%s'%s; see `millrace help`", word, family.n ? family.s : "");
}
