/* lib-sexp.c - the s-expression reader against a recursive one over random text; round trips; errors; size. */
#include "dies.h"
#include "feed.h"
#include "base/message.h"
#include "base/rng.h"
#include "tap.h"
#include "tree/sexp.h"
#include <time.h>

/* A tree as text that cannot be misread: atoms are LENGTH:BYTES, lists ( ... ). */
static void tag_atom(struct buf *b, str s)
{
    buf_format(b, "%zu:", s.n);
    buf_str(b, s);
}

static void tag_node(struct buf *b, const struct sexp *e, snode n)
{
    if (sexp_is_atom(e, n)) {
        tag_atom(b, sexp_atom(e, n));
        return;
    }
    size_t count = 0;
    buf_char(b, '(');
    for (snode k = sexp_first(e, n); k != SEXP_NONE; k = sexp_after(e, k), count++) {
        if (sexp_nth(e, n, count) != k) buf_add(b, "nth?", 4);
        tag_node(b, e, k);
    }
    if (sexp_count(e, n) != count || sexp_nth(e, n, count) != SEXP_NONE) buf_add(b, "count?", 6);
    buf_char(b, ')');
}

static void tag_all(struct buf *b, sexpr *r)
{
    b->n = 0;
    for (const struct sexp *e; (e = sexp_next(r));) tag_node(b, e, 0);
    sexp_close(r);
}

/* ---- the oracle: the definition of the dialects, one byte at a time, recursive; only for sound text ---- */

static const char *blanks(const char *s, enum sexp_dialect d)
{
    for (;;) {
        if (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r') s++;
        else if (d == SEXP_CORE && *s == ';') s += strcspn(s, "\n");
        else if (d == SEXP_CORE && s[0] == '#' && s[1] == '|') {
            int depth = 0;
            do {
                if (s[0] == '#' && s[1] == '|') depth++, s += 2;
                else if (s[0] == '|' && s[1] == '#') depth--, s += 2;
                else s++;
            } while (depth);
        } else return s;
    }
}

static const char *oracle(struct buf *b, const char *s, enum sexp_dialect d)
{
    s = blanks(s, d);
    if (*s == '(') {
        buf_char(b, '(');
        for (s = blanks(s + 1, d); *s != ')'; s = blanks(s, d)) s = oracle(b, s, d);
        buf_char(b, ')');
        return s + 1;
    }
    struct buf a = { 0 };
    buf_add(&a, "", 0);
    if (*s == '"' && d != SEXP_COMPILER) {
        for (s++; *s != '"'; s++) {
            int v, used;
            if (*s != '\\') buf_char(&a, *s);
            else if (*++s == 'n') buf_char(&a, '\n');
            else if (*s == 't') buf_char(&a, '\t');
            else if (*s == 'r') buf_char(&a, '\r');
            else if (*s == 'x' && sscanf(s + 1, "%2x%n", (unsigned *)&v, &used) == 1) buf_char(&a, (char)v), s += used;
            else if (sscanf(s, "%3d%n", &v, &used) == 1) buf_char(&a, (char)v), s += used - 1;
            else buf_char(&a, *s);
        }
        s++;
    } else {
        const char *stop = d == SEXP_COMPILER ? " \t\r\n()" : d == SEXP_CORE ? " \t\r\n()\";" : " \t\r\n()\"";
        size_t n = strcspn(s, stop);
        buf_add(&a, s, n);
        s += n;
    }
    tag_atom(b, (str){ a.s, a.n });
    free(a.s);
    return s;
}

static void oracle_all(struct buf *b, const char *s, enum sexp_dialect d)
{
    b->n = 0;
    for (s = blanks(s, d); *s; s = blanks(s, d)) s = oracle(b, s, d);
}

/* ---- random text ---- */

static void random_blank(struct buf *b, struct rng *g, enum sexp_dialect d, bool needed)
{
    static const char *const plain[] = { " ", "\n", "\t", "\r\n", "   ", " \n  " };
    static const char *const notes[] = { ";x (\n", " ; \"\n", "#||#", "#| ( #| \" |# ;|#", "#|\n\n|#" };
    size_t k = rng_below(g, needed ? 8 : 12);
    if (d == SEXP_CORE && k == 7) buf_add(b, " ", 1), buf_str(b, str_of(notes[rng_below(g, 5)]));
    else if (k < 6 || needed) buf_str(b, str_of(plain[k % 6]));
}

/* gives whether a blank is needed before an atom that follows */
static bool random_item(struct buf *b, struct rng *g, enum sexp_dialect d, int depth)
{
    static const char bare[] = "abcxyzABZ0189-+.'_:,/[]@=<>*!?{}&%$~^\x01\x7f\xc3\xa9";
    static const char odd[] = "ab (); \n\t'|#";
    if (depth > 0 && rng_below(g, 5) < 2) {
        bool need = false;
        buf_char(b, '(');
        for (size_t k = rng_below(g, 6); k > 0; k--) {
            random_blank(b, g, d, need);
            need = random_item(b, g, d, depth - 1);
        }
        random_blank(b, g, d, false);
        buf_char(b, ')');
        return false;
    }
    if (d != SEXP_COMPILER && rng_below(g, 4) == 0) {
        static const char *const escapes[] = {
            "\\n", "\\\\", "\\\"", "\\t", "\\065", "\\xe9", "\\x4A", "\\'", "\\255"
        };
        buf_char(b, '"');
        for (size_t k = rng_below(g, 20); k > 0; k--) {
            if (rng_below(g, 8) == 0) buf_str(b, str_of(escapes[rng_below(g, 9)]));
            else buf_char(b, odd[rng_below(g, sizeof odd - 1)]);
        }
        buf_char(b, '"');
        return true;
    }
    for (size_t k = 1 + rng_below(g, rng_below(g, 4) ? 9 : 50); k > 0; k--) {
        if (d == SEXP_COMPILER && rng_below(g, 9) == 0) buf_char(b, "\";#|"[rng_below(g, 4)]);
        else buf_char(b, bare[rng_below(g, sizeof bare - 1)]);
    }
    return true;
}

static void agree(void)
{
    size_t wrong = 0, torn = 0, again = 0, unequal = 0;
    struct buf text = { 0 }, want = { 0 }, got = { 0 }, copy = { 0 };
    for (int i = 0; i < 3000; i++) {
        char key[32];
        snprintf(key, sizeof key, "sexp/%d", i);
        struct rng g = rng_for(1, str_of(key));
        enum sexp_dialect d = (enum sexp_dialect)(i % 3);
        text.n = 0;
        bool need = false;
        for (size_t k = 1 + rng_below(&g, 3); k > 0; k--) {
            random_blank(&text, &g, d, need);
            need = random_item(&text, &g, d, 6);
        }
        oracle_all(&want, text.s, d);
        tag_all(&got, sexp_open_text(text.s, text.n, "t", d));
        wrong += !str_eq((str){ got.s, got.n }, (str){ want.s, want.n });
        if (i % 16 == 0) {
            pid_t pid = feed((str){ text.s, text.n }, 7, &g);
            tag_all(&got, sexp_open("-", d));
            torn += !str_eq((str){ got.s, got.n }, (str){ want.s, want.n });
            waitpid(pid, NULL, 0);
        }
        /* written and read again: the same tree; written once more: the same bytes */
        for (int round = 0; round < 2; round++) {
            char *s = NULL;
            size_t n = 0;
            FILE *f = open_memstream(&s, &n);
            sexpw *w = sexpw_file(f);
            sexpr *r = round ? sexp_open_text(copy.s, copy.n, "t", SEXP_CORE) : sexp_open_text(text.s, text.n, "t", d);
            for (const struct sexp *e; (e = sexp_next(r));) sexpw_copy(w, e, 0);
            sexp_close(r);
            sexpw_close(w);
            fclose(f);
            if (round) unequal += n != copy.n || memcmp(s, copy.s, n) != 0;
            copy.n = 0;
            buf_add(&copy, s, n);
            free(s);
        }
        tag_all(&got, sexp_open_text(copy.s, copy.n, "t", SEXP_CORE));
        again += !str_eq((str){ got.s, got.n }, (str){ want.s, want.n });
    }
    ok(wrong == 0, "3000 random texts in three dialects read as the recursive reader reads them");
    ok(torn == 0, "the same texts in small pieces through a pipe read the same");
    ok(again == 0, "what the writer writes reads back as the same tree");
    ok(unequal == 0, "the canonical form is a fixed point");
    free(text.s);
    free(want.s);
    free(got.s);
    free(copy.s);
}

/* ---- known answers ---- */

static bool reads(const char *text, enum sexp_dialect d, const char *want)
{
    struct buf got = { 0 };
    buf_add(&got, "", 0);
    tag_all(&got, sexp_open_text(text, strlen(text), "t", d));
    bool good = strcmp(got.s, want) == 0;
    if (!good) printf("# got %s, want %s\n", got.s, want);
    free(got.s);
    return good;
}

static void known(void)
{
    ok(reads("(a x' b)", SEXP_CORE, "(1:a2:x'1:b)"), "a prime is part of an atom");
    ok(reads("(f'(g 1) h)", SEXP_CORE, "(2:f'(1:g1:1)1:h)"), "a parenthesis after a prime opens a list");
    ok(reads("((a 1)(b(2 3)))", SEXP_CORE, "((1:a1:1)(1:b(1:21:3)))"), "the machine form without blanks");
    ok(reads("(anon-fn[lens.ml:52,8--57] @ := \"x;y)", SEXP_COMPILER, "(25:anon-fn[lens.ml:52,8--57]1:@2::=4:\"x;y)"),
       "compiler output: quotes and semicolons are atom bytes");
    ok(reads("(a;b\n c)", SEXP_CORE, "(1:a1:c)"), "a semicolon ends an atom and starts a comment");
    ok(reads("(a;b\n c)", SEXP_PYTHON, "(3:a;b1:c)"), "no comments in Python's form");
    ok(reads("(a\"b c\"d)", SEXP_CORE, "(1:a3:b c1:d)"), "a string may touch atoms");
    ok(reads("(\"a\\\n   b\")", SEXP_CORE, "(2:ab)"), "a backslash at the end of a line continues the string");
    ok(reads("(#a #(b) a#|b)", SEXP_CORE, "(2:#a1:#(1:b)4:a#|b)"), "a hash alone is an atom");
    ok(reads("\xef\xbb\xbf(a)", SEXP_CORE, "(1:a)"), "a byte order mark is skipped");
    ok(reads(" ; nothing\n", SEXP_CORE, ""), "blanks and comments only are no expression");
    ok(reads("() (\"\")", SEXP_CORE, "()(0:)"), "the empty list and the empty string");

    static const char text[] = "(plan (limit_bytes 12)\n (gap_ratio 0.25) (name \"a\\tb\") (tensor x 3) ())\n(next)";
    sexpr *r = sexp_open_text(text, sizeof text - 1, "t", SEXP_CORE);
    const struct sexp *e = sexp_next(r);
    ok(sexp_head(e, 0, "plan") && !sexp_head(e, 0, "pla") && !sexp_head(e, 1, "plan"), "the head of a list");
    near(sexp_num_of(e, 0, "gap_ratio"), 0.25, 0, "a number by its key");
    near(sexp_num_or(e, 0, "no", 7), 7, 0, "a missing number has its default");
    ok(sexp_int(e, sexp_value(e, 0, "limit_bytes")) == 12, "an integer");
    ok(str_is(sexp_str_of(e, 0, "name"), "a\tb"), "a string by its key");
    snode tensor = sexp_get(e, 0, "tensor");
    ok(sexp_count(e, tensor) == 3 && str_is(sexp_atom(e, sexp_nth(e, tensor, 2)), "3"), "a list by its key");
    ok(sexp_get(e, 0, "gap") == SEXP_NONE && sexp_value(e, 0, "x") == SEXP_NONE, "keys that are not there");
    ok(sexp_line(e, 0) == 1 && sexp_line(e, tensor) == 2, "lines of nodes");
    ok(sexp_line(e, sexp_value(e, 0, "name")) == 2, "the line of a string with escapes");
    e = sexp_next(r);
    ok(sexp_head(e, 0, "next") && sexp_line(e, 0) == 3, "lines go on over expressions");
    ok(!sexp_next(r) && !sexp_next(r), "the end stays the end");
    sexp_close(r);
}

static void writer(void)
{
    char *s = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&s, &n);
    sexpw *w = sexpw_file(f);
    sexpw_begin(w, "plan");
    sexpw_pair(w, "gap_ratio", 0.1);
    sexpw_line(w);
    sexpw_begin(w, "tensor");
    sexpw_cstr(w, "x y");
    sexpw_int(w, -3);
    sexpw_line(w);
    sexpw_begin(w, NULL);
    sexpw_end(w);
    sexpw_end(w);
    sexpw_line(w);
    sexpw_end(w);
    sexpw_cstr(w, "");
    sexpw_atom(w, (str){ "a\0\"\\\n\x7f", 6 });
    sexpw_pair_str(w, "k", str_of("x'"));
    sexpw_atom(w, str_of("\xef\xbb\xbf" "a"));        /* a byte order mark, were it bare and first */
    sexpw_close(w);
    fclose(f);
    const char *want =
        "(plan (gap_ratio 0.1)\n  (tensor \"x y\" -3\n    ()))\n\"\"\n"
        "\"a\\000\\\"\\\\\\n\\127\"\n(k x')\n\"\xef\xbb\xbf" "a\"\n";
    if (!ok(strcmp(s, want) == 0, "the canonical form")) printf("# got %s# want %s", s, want);
    free(s);
}

/* ---- errors ---- */

struct bad { const char *text; size_t n; enum sexp_dialect d; };

static void read_all(const void *arg)
{
    const struct bad *b = arg;
    struct buf t = { 0 };
    tag_all(&t, sexp_open_text(b->text, b->n, "f.sexp", b->d));
}

static void read_only(const void *arg)
{
    sexp_only(sexp_open_text(arg, strlen(arg), "f.sexp", SEXP_CORE));
}

static void read_num(const void *arg)
{
    sexpr *r = sexp_open_text(arg, strlen(arg), "f.sexp", SEXP_CORE);
    sexp_num_of(sexp_next(r), 0, "k");
}

static void read_path(const void *arg)
{
    sexp_only(sexp_open(arg, SEXP_CORE));
}

static bool rejects(const char *text, const char *words)
{
    struct bad b = { text, strlen(text), SEXP_CORE };
    return dies(read_all, &b, 1, words);
}

static void errors(void)
{
    ok(rejects("(a\n (b c)\n", "f.sexp:3:1: unclosed list, opened at line 1"), "an unclosed list");
    ok(rejects("(a\n (b\n (c", "f.sexp:3:4: 3 unclosed lists, the outermost opened at line 1, the innermost at line 3"),
       "several unclosed lists");
    ok(rejects("(a)\n b)", "f.sexp:2:3: unexpected ')'"), "a parenthesis too many");
    ok(rejects("(a \"b\nc)", "f.sexp:1:4: unclosed string"), "an unclosed string is placed where it opens");
    ok(rejects("(\"\\q\")", "f.sexp:1:3: unknown escape '\\q'"), "an unknown escape");
    ok(rejects("(\"\\256\")", "\\256 is no byte"), "an escape that is no byte");
    ok(rejects("(\"ab\\", "unclosed string"), "a backslash at the very end");
    ok(rejects("a #| b", "f.sexp:1:3: unclosed comment"), "an unclosed comment");
    ok(rejects("(a #;b c)", "f.sexp:1:4: comments of the form #;"), "datum comments are refused, not misread");
    ok(rejects("", "f.sexp: empty input"), "no input at all");
    ok(rejects("version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "f.sexp: a git-lfs pointer"),
       "a git-lfs pointer");
    struct bad nul[] = { { "(a \0b)", 6, SEXP_CORE },
                         { "(a\0b)", 5, SEXP_COMPILER },
                         { "(\"a\0b\")", 7, SEXP_PYTHON } };
    ok(dies(read_all, &nul[0], 1, "f.sexp:1:4: NUL byte"), "a NUL byte between atoms");
    ok(dies(read_all, &nul[1], 1, "f.sexp:1:3: NUL byte"), "a NUL byte in an atom");
    ok(dies(read_all, &nul[2], 1, "f.sexp:1:4: NUL byte"), "a NUL byte in a string");
    ok(dies(read_only, "(a) ; fine\n #|x|# b", 1, "f.sexp:2:8: more than one expression"),
       "one expression wanted, two there");
    ok(dies(read_only, " ; none\n", 1, "f.sexp: no expression"), "one expression wanted, none there");
    ok(run_child(read_only, "(a) ; fine\n #|x|#\n") == 0, "one expression and a comment are one expression");
    ok(dies(read_num, "((b 1)\n (k 12x))", 1, "f.sexp:2: '12x' is not a number"), "not a number");
    ok(dies(read_num, "((b 1)\n (k (1)))", 1, "f.sexp:2: a list where an atom"), "a list for an atom");
    ok(dies(read_num, "\n((b 1))", 1, "f.sexp:2: no (k ...)"), "a missing key");
    ok(dies(read_path, "/nonexistent/x", 1, "/nonexistent/x: No such file"), "a missing file");
    ok(dies(read_path, "/", 1, "Is a directory"), "a directory");
}

/* every prefix of a sound text either reads or is refused with a place; nothing crashes */
static void prefixes(void)
{
    static const char text[] = "(a #|x|# (b \"c\\065\\n d\") ;y\n e) \"f\\x41\" (() g)";
    int odd = 0;
    for (size_t n = 1; n < sizeof text; n++) {
        struct bad b = { text, n, SEXP_CORE };
        int status = run_child(read_all, &b);
        odd += status == 1 ? !strstr(dies_said, "f.sexp:") : status != 0;
    }
    ok(odd == 0, "every prefix of a text is read or refused with its place");
}

static void large(void)
{
    enum { DEEP = 1000000, WIDE = 3000000 };
    struct buf b = { 0 };
    for (int i = 0; i < DEEP; i++) buf_char(&b, '(');
    for (int i = 0; i < DEEP; i++) buf_char(&b, ')');
    sexpr *r = sexp_open_text(b.s, b.n, "deep", SEXP_CORE);
    const struct sexp *e = sexp_only(r);
    size_t depth = 0;
    for (snode n = 0; n != SEXP_NONE; n = sexp_first(e, n)) depth++;
    ok(depth == DEEP, "a million lists inside each other");
    FILE *f = tmpfile();
    sexpw *w = sexpw_file(f);
    sexpw_copy(w, e, 0);
    sexpw_close(w);
    ok(ftell(f) == 2 * DEEP + 1, "are written again");
    fclose(f);
    sexp_close(r);

    b.n = 0;
    buf_char(&b, '(');
    for (int i = 0; i < WIDE; i++) buf_add(&b, "x ", 2);
    buf_char(&b, ')');
    r = sexp_open_text(b.s, b.n, "wide", SEXP_CORE);
    e = sexp_only(r);
    size_t seen = 0;
    for (snode n = sexp_first(e, 0); n != SEXP_NONE; n = sexp_after(e, n)) seen++;
    ok(seen == WIDE && sexp_count(e, 0) == WIDE, "three million atoms side by side");
    sexp_close(r);
    free(b.s);
}

/* a large file on disk: text moves in the buffer while an expression is being read, lines stay right */
static void moving(void)
{
    FILE *f = tmpfile();
    size_t bytes = 0, wrong = 0, count = 0;
    for (int i = 0; bytes < 3000000; i++)
        bytes +=
            (size_t)fprintf(f, "(item %d\n (body %0*d \"\\t%d\"))\n", i, i % 1000 == 0 ? 200000 : i % 97 + 1, i, i);
    rewind(f);
    dup2(fileno(f), 0);
    sexpr *r = sexp_open("-", SEXP_CORE);
    for (const struct sexp *e; (e = sexp_next(r)); count++) {
        snode body = sexp_get(e, 0, "body"), text = sexp_nth(e, body, 2);
        wrong += sexp_int(e, sexp_nth(e, 0, 1)) != (int64_t)count || sexp_num(e, sexp_nth(e, body, 1)) != (double)count;
        wrong += atol(sexp_atom(e, text).s + 1) != (long)count || sexp_atom(e, text).s[0] != '\t';
        if (count % 100 == 0) wrong += sexp_line(e, text) != 2 * count + 2;
    }
    ok(wrong == 0 && count > 10000, "long input: values and lines are right all through");
    sexp_close(r);
    fclose(f);
}

/* an expression is given out as soon as its last parenthesis has come */
static void copy_all(void)
{
    sexpr *r = sexp_open("-", SEXP_CORE);
    sexpw *w = sexpw_file(stdout);
    for (const struct sexp *e; (e = sexp_next(r));) sexpw_copy(w, e, 0);
}

int main(void)
{
    agree();
    known();
    writer();
    errors();
    prefixes();
    large();
    moving();
    ok(answers(copy_all, "", "(a)", "(a)\n", 1), "an expression on a pipe is answered before the next one comes");
    return done();
}
