/* filter.c - see filter.h */
#include "base/filter.h"
#include "base/near.h"
#include "base/num.h"
#include "base/out.h"
#include "base/str.h"
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef VERSION
#define VERSION "unknown"
#endif

bool quiet;

static const struct opt *table;
static const char *help_text;
static bool *given;                                      /* of each option: was it on the command line? */

enum { HELP_COLUMN = 29, HELP_WIDTH = 79 };

static void add_default(struct buf *b, const struct opt *o)
{
    char n[NUM_MAX];
    switch (o->type) {
    case INT: if (*(long *)o->to != LONG_MIN) buf_format(b, " [%ld]", *(long *)o->to); break;
    case NUM: if (!isnan(*(double *)o->to)) buf_format(b, " [%.*s]", (int)num_print(n, *(double *)o->to), n); break;
    case SIZE: if (*(uint64_t *)o->to) buf_format(b, " [%llu]", (unsigned long long)*(uint64_t *)o->to); break;
    case STR: if (*(const char **)o->to) buf_format(b, " [%s]", *(const char **)o->to); break;
    case WORD: if (*(int *)o->to >= 0) buf_format(b, " [%s]", option_word(o->to)); break;
    case FLAG: case LIST: break;
    }
}

/* from column `at` on, further lines indented; what fits no line breaks after a | or a comma, or not at all */
static void put_wrapped(const char *text, size_t at)
{
    for (const char *p = text; *p;) {
        size_t blank = *p == ' ', n = strcspn(p + blank, " ");
        if (at + blank + n > HELP_WIDTH && at > HELP_COLUMN) {
            printf("\n%*s", HELP_COLUMN, "");
            at = HELP_COLUMN;
        } else if (blank) {
            putchar(' ');
            at++;
        }
        p += blank;
        for (; n > HELP_WIDTH - HELP_COLUMN;) {
            size_t k = HELP_WIDTH - HELP_COLUMN;
            while (k > 1 && p[k - 1] != '|' && p[k - 1] != ',') k--;
            if (k == 1) break;
            printf("%.*s\n%*s", (int)k, p, HELP_COLUMN, "");
            p += k;
            n -= k;
        }
        printf("%.*s", (int)n, p);
        at += n;
        p += n;
    }
    putchar('\n');
}

static void show_option(const struct opt *o)
{
    struct buf left = { 0 }, right = { 0 };
    const char *eq = o->arg ? "=" : "", *arg = o->arg ? o->arg : "";
    bool words = o->type == WORD && strlen(o->name) + strlen(arg) > HELP_WIDTH - 12;
    buf_format(&left, "  %c%c%s--%s%s%s", o->c ? '-' : ' ', o->c ? o->c : ' ', o->c ? ", " : "  ", o->name, eq,
               words ? "WORD" : arg);
    buf_format(&right, "%s%s%s", o->help, words ? ": " : "", words ? arg : "");
    add_default(&right, o);
    fputs(left.s, stdout);
    if (left.n > HELP_COLUMN - 2) printf("\n%*s", HELP_COLUMN, "");
    else printf("%*s", (int)(HELP_COLUMN - left.n), "");
    put_wrapped(right.s, HELP_COLUMN);
    free(left.s);
    free(right.s);
}

static void show_help(void)
{
    fputs(help_text, stdout);
    puts("\nOptions:");
    for (const struct opt *o = table; o->name; o++) show_option(o);
    puts("      --quiet                no progress, no notes\n"
         "  -h, --help                 print this and exit\n"
         "      --version              print the version and exit");
}

static void check_range(const struct opt *o, double v, const char *text)
{
    if ((o->min != 0 || o->max != 0) && !(v >= o->min && v <= o->max)) {
        char lo[NUM_MAX], hi[NUM_MAX];
        usage("--%s: '%s' is not in %.*s .. %.*s", o->name, text, (int)num_print(lo, o->min), lo,
              (int)num_print(hi, o->max), hi);
    }
}

/* which of words "a|b|c" it is; -1: none */
static int word_index(const char *words, const char *w)
{
    size_t n = strlen(w);
    for (int i = 0;; i++) {
        size_t k = strcspn(words, "|");
        if (k == n && n > 0 && memcmp(words, w, n) == 0) return i;
        if (!words[k]) return -1;
        words += k + 1;
    }
}

const char *option_word(const void *to)
{
    const struct opt *o = table;
    while (o->name && (o->to != to || o->type != WORD)) o++;
    int n = o->name ? *(const int *)to : -1;
    if (n < 0) return NULL;
    const char *p = o->arg;
    for (; n > 0; n--) p += strcspn(p, "|") + 1;
    return xstrndup(p, strcspn(p, "|"));
}

static void set(const struct opt *o, const char *a)
{
    int64_t i;
    double d;
    uint64_t bytes;
    struct list *l;
    switch (o->type) {
    case FLAG:
        *(bool *)o->to = true;
        break;
    case STR:
        /* columns named one by one are a list of them: the last one alone is nobody's wish */
        if (given[o - table] && o->arg && strcmp(o->arg, "COLS") == 0) a = xformat("%s,%s", *(const char **)o->to, a);
        *(const char **)o->to = a;
        given[o - table] = true;
        break;
    case WORD:
        if (word_index(o->arg, a) < 0) usage("--%s: '%s' is not one of %s", o->name, a, o->arg);
        *(int *)o->to = word_index(o->arg, a);
        break;
    case LIST:
        l = o->to;
        l->v = xrealloc(l->v, (size_t)l->n + 1, sizeof *l->v);
        l->v[l->n++] = a;
        break;
    case INT:
        if (!int_parse(a, strlen(a), &i)) usage("--%s: '%s' is not an integer", o->name, a);
        check_range(o, (double)i, a);
        *(long *)o->to = (long)i;
        break;
    case NUM:
        if (!num_parse(a, strlen(a), &d)) usage("--%s: '%s' is not a number", o->name, a);
        check_range(o, d, a);
        *(double *)o->to = d;
        break;
    case SIZE:
        if (!size_parse(a, strlen(a), &bytes))
            usage("--%s: '%s' is not a number of bytes (such as 4096, 64M, 2Gi)", o->name, a);
        check_range(o, (double)bytes, a);
        *(uint64_t *)o->to = bytes;
        break;
    }
}

static const struct opt *find_long(const char *name, size_t n)
{
    for (const struct opt *o = table; o->name; o++)
        if (strlen(o->name) == n && memcmp(o->name, name, n) == 0) return o;
    return NULL;
}

/* an option that is not there: what was meant, maybe, or what there is */
static _Noreturn void no_long(const char *a, size_t n)
{
    struct near x = { .want = { a + 2, n } };
    for (const struct opt *o = table; o->name; o++) near_offer(&x, str_of(o->name));
    if (x.best.n) usage("no option %.*s; did you mean --%s?", (int)n + 2, a, x.best.s);
    struct buf b = { 0 };
    buf_add(&b, "", 0);
    for (const struct opt *o = table; o->name && b.n < 300; o++)
        buf_format(&b, "%s--%s", b.n ? ", " : "; there are ", o->name);
    usage("no option %.*s%s", (int)n + 2, a, b.s);
}

static _Noreturn void no_short(char c)
{
    struct buf b = { 0 };
    buf_add(&b, "", 0);
    for (const struct opt *o = table; o->name; o++)
        if (o->c) buf_format(&b, "%s-%c (--%s)", b.n ? ", " : "; there are ", o->c, o->name);
    usage("no option -%c%s", c, b.s);
}

static const struct opt *find_short(char c)
{
    for (const struct opt *o = table; o->name; o++)
        if (o->c == c) return o;
    return NULL;
}

/* for completion: "--name -c KIND words .." of each option with a value; KIND is the name of the value */
static void show_words(void)
{
    for (const struct opt *o = table; o->name; o++) {
        if (o->type == FLAG) continue;
        printf("--%s -%c %s ", o->name, o->c ? o->c : '-', o->type == WORD ? "WORD" : o->arg);
        for (const char *p = o->type == WORD ? o->arg : ""; *p; p++) putchar(*p == '|' ? ' ' : *p);
        putchar('\n');
    }
}

static void built_in(const char *a)
{
    if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0) show_help();
    else if (strcmp(a, "--version") == 0) printf("%s (millrace) %s\n", prog, VERSION);
    else if (strcmp(a, "--_options") == 0)
        for (const struct opt *o = table; o->name; o++) printf("--%s%s\n", o->name, o->type == FLAG ? "" : "=");
    else if (strcmp(a, "--_words") == 0) show_words();
    else return;
    exit(finish());
}

/* parse the option at argv[i]; returns the index after it and its value */
static int one_option(int argc, char **argv, int i)
{
    const char *a = argv[i++];
    built_in(a);
    if (strcmp(a, "--quiet") == 0) {
        quiet = true;
        return i;
    }
    if (a[1] == '-') {
        size_t n = strcspn(a + 2, "=");
        const struct opt *o = find_long(a + 2, n);
        if (!o) no_long(a, n);
        bool has_value = a[n + 2] == '=';
        if (o->type == FLAG && has_value) usage("--%s takes no value", o->name);
        if (o->type == FLAG) set(o, NULL);
        else if (has_value) set(o, a + n + 3);
        else if (i < argc) set(o, argv[i++]);
        else usage("--%s needs %s", o->name, o->arg);
        return i;
    }
    for (const char *p = a + 1; *p; p++) {
        const struct opt *o = find_short(*p);
        if (!o) no_short(*p);
        if (o->type == FLAG) {
            set(o, NULL);
            continue;
        }
        if (p[1]) set(o, p + 1);
        else if (i < argc) set(o, argv[i++]);
        else usage("-%c needs %s", o->c, o->arg);
        break;
    }
    return i;
}

static bool is_option(const char *a)
{
    return a[0] == '-' && a[1];
}

/* What a parent may have taken away: a standard descriptor that is closed would be the number of the next file that is
 * opened, and messages would go into it; it fails as a closed one does, and what is started finds it closed.  SIGPIPE
 * ignored: `filter | head` must end quietly; SIGCHLD ignored: nobody could be waited for. */
static void surroundings(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        // cppcheck-suppress leakReturnValNotUsed
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
            exit(EXIT_FAIL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
}

static void init(char **argv, const char *help, const struct opt *options)
{
    const char *slash = strrchr(argv[0], '/');
    prog = slash ? slash + 1 : argv[0];
    help_text = help;
    table = options;
    size_t n = 0;
    while (options[n].name) n++;
    given = xcalloc(n + 1, sizeof *given);
    surroundings();
}

int filter_init_strict(int argc, char **argv, const char *help, const struct opt *options)
{
    init(argv, help, options);
    int i = 1;
    while (i < argc && is_option(argv[i])) {
        if (strcmp(argv[i], "--") == 0) return i + 1;
        i = one_option(argc, argv, i);
    }
    return i;
}

int filter_init(int argc, char **argv, const char *help, const struct opt *options)
{
    init(argv, help, options);
    char **operand = xmalloc((size_t)argc, sizeof *operand);
    int n = 0, i = 1;
    while (i < argc) {
        if (strcmp(argv[i], "--") == 0) {
            for (i++; i < argc; i++) operand[n++] = argv[i];
        } else if (is_option(argv[i])) i = one_option(argc, argv, i);
        else operand[n++] = argv[i++];
    }
    for (int k = 0; k < n; k++) argv[argc - n + k] = operand[k];
    free(operand);
    return argc - n;
}

const char *filter_operand(int argc, char **argv, int i)
{
    if (argc - i > 1) usage("one input expected, got '%s' and '%s'", argv[i], argv[i + 1]);
    return i < argc ? argv[i] : "-";
}
