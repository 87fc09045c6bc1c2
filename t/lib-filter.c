/* lib-filter.c - the command line: options in any place and form, wrong ones refused, the help text. */
#include "base/filter.h"
#include "base/str.h"
#include "dies.h"
#include "tap.h"
#include <limits.h>
#include <stdint.h>

static const char help[] = "lib-filter - a test\n";

/* what the options were, as one text; the operands after it */
static char result[512];

static void parse(bool strict, const char *const *words)
{
    bool flag = false;
    long number = 5;
    double x = NAN;
    uint64_t size = 4096;
    const char *text = NULL;
    int word = 0;
    struct list list = { 0 };
    const struct opt options[] = { { 'f', "flag", FLAG, &flag, NULL, "a flag", 0, 0 },
                                   { 'n', "number", INT, &number, "N", "an integer", 0, 10 },
                                   { 'x', "ratio", NUM, &x, "X", "a number", -1, 1 },
                                   { 0, "size", SIZE, &size, "BYTES", "a size", 0, 1e12 },
                                   { 't', "text", STR, &text, "TEXT", "a text", 0, 0 },
                                   { 'w', "word", WORD, &word, "one|two|three", "a word", 0, 0 },
                                   { 'l', "list", LIST, &list, "ITEM", "items", 0, 0 },
                                   { 'c', "column", STR, &text, "COLS", "columns", 0, 0 },
                                   { 0 } };
    char *argv[32] = { xstrdup("path/to/lib-filter") };
    int argc = 1;
    for (; words[argc - 1]; argc++) argv[argc] = xstrdup(words[argc - 1]);
    int i = strict ? filter_init_strict(argc, argv, help, options) : filter_init(argc, argv, help, options);
    struct buf b = { 0 };
    buf_format(&b, "%d %ld %g %llu %s %s %s", flag, number, x, (unsigned long long)size, text ? text : "-",
               option_word(&word), quiet ? "quiet" : "");
    for (int k = 0; k < list.n; k++) buf_format(&b, "+%s", list.v[k]);
    for (; i < argc; i++) buf_format(&b, " <%s>", argv[i]);
    snprintf(result, sizeof result, "%s", b.s);
    free(b.s);
}

#define ARGS(...) (const char *const[]){ __VA_ARGS__, NULL }

static bool gives(const char *const *words, const char *want)
{
    quiet = false;
    parse(false, words);
    if (strcmp(result, want) == 0) return true;
    printf("# got  %s\n# want %s\n", result, want);
    return false;
}

static void parse_any(const void *words)
{
    parse(false, words);
}

static void one_operand(const void *words)
{
    char *argv[8] = { xstrdup("p") };
    int argc = 1;
    for (const char *const *w = words; w[argc - 1]; argc++) argv[argc] = xstrdup(w[argc - 1]);
    const struct opt none[] = { { 0 } };
    fprintf(stderr, "<%s>", filter_operand(argc, argv, filter_init(argc, argv, help, none)));
}

static void on_stderr(const void *words)
{
    dup2(2, 1);
    parse(false, words);
}

int main(void)
{
    ok(gives(ARGS("in"), "0 5 nan 4096 - one  <in>"), "defaults, and one operand");
    ok(gives(ARGS("-f", "-n", "7", "-x0.5", "--size=2Ki", "--text", "a b", "-wtwo"), "1 7 0.5 2048 a b two "),
       "all forms of options");
    ok(gives(ARGS("a", "-fn3", "b", "--flag", "c", "--quiet"), "1 3 nan 4096 - one quiet <a> <b> <c>"),
       "options between operands, letters together");
    ok(gives(ARGS("-n1", "--", "-f", "--", "x"), "0 1 nan 4096 - one  <-f> <--> <x>"), "-- ends the options");
    ok(gives(ARGS("-", "--list=a", "-l", "b", "-lc"), "0 5 nan 4096 - one +a+b+c <->"),
       "- is an operand; lists keep their order");
    ok(gives(ARGS("-c", "a", "--column=b,c", "-cd"), "0 5 nan 4096 a,b,c,d one "), "columns one by one are a list");
    ok(gives(ARGS("--text=", "-x", "-1", "--number=0"), "0 0 -1 4096  one "), "an empty value, a negative one");
    parse(true, ARGS("-f", "cmd", "-n", "3"));
    ok(strcmp(result, "1 5 nan 4096 - one  <cmd> <-n> <3>") == 0, "strict: the first operand ends the options");

    ok(dies(parse_any, ARGS("--nothing"), 2, "lib-filter: no option --nothing; there are --flag, --number, "),
       "an unknown option, and what there is");
    ok(dies(parse_any, ARGS("--numb=3"), 2, "no option --numb"), "no abbreviations");
    ok(dies(parse_any, ARGS("-q"), 2, "no option -q"), "an unknown letter");
    ok(dies(parse_any, ARGS("-n"), 2, "-n needs N"), "a missing value");
    ok(dies(parse_any, ARGS("--text"), 2, "--text needs TEXT"), "a missing value of a long option");
    ok(dies(parse_any, ARGS("--flag=yes"), 2, "--flag takes no value"), "a flag with a value");
    ok(dies(parse_any, ARGS("-n", "2.5"), 2, "'2.5' is not an integer"), "no integer");
    ok(dies(parse_any, ARGS("-n", "11"), 2, "--number: '11' is not in 0 .. 10"), "out of range");
    ok(dies(parse_any, ARGS("-x", "nan"), 2, "'nan' is not in -1 .. 1"), "nan lies in no range");
    ok(dies(parse_any, ARGS("-x", "1x"), 2, "'1x' is not a number"), "no number");
    ok(dies(parse_any, ARGS("--size=12Q"), 2, "'12Q' is not a number of bytes"), "no size");
    ok(dies(parse_any, ARGS("-w", "tw"), 2, "'tw' is not one of one|two|three"), "no such word");
    ok(dies(parse_any, ARGS("-w", "one|two"), 2, "is not one of"), "two words are none");

    ok(dies(one_operand, ARGS("a"), 0, "<a>") && dies(one_operand, (const char *const[]){ NULL }, 0, "<->"),
       "one operand, or none");
    ok(dies(one_operand, ARGS("a", "b"), 2, "one input expected, got 'a' and 'b'"),
       "two operands where one is expected");

    ok(dies(on_stderr, ARGS("--help"), 0, "lib-filter - a test\n\nOptions:\n  -f, --flag                 a flag\n"),
       "the help begins with the text");
    ok(strstr(dies_said, "  -n, --number=N             an integer [5]\n") &&
           strstr(dies_said, "  -x, --ratio=X              a number\n") &&
           strstr(dies_said, "      --size=BYTES           a size [4096]\n") &&
           strstr(dies_said, "  -w, --word=one|two|three   a word [one]\n"),
       "options with their defaults");
    ok(dies(on_stderr, ARGS("--version"), 0, "lib-filter (millrace) "), "the version");
    ok(dies(on_stderr, ARGS("--_options"), 0,
            "--flag\n--number=\n--ratio=\n--size=\n--text=\n--word=\n--list=\n--column=\n"),
       "options for completion");
    return done();
}
