/* lib-csvio.c - the CSV reader against a byte-by-byte one over random tables; errors; append-only logs. */
#include "base/message.h"
#include "base/rng.h"
#include "dies.h"
#include "feed.h"
#include "table/csvio.h"
#include "tap.h"
#include <sys/stat.h>

/* A table as text that cannot be misread: fields are LENGTH:BYTES, rows end in a newline. */
static void tag(struct buf *b, str s)
{
    buf_format(b, "%zu:", s.n);
    buf_str(b, s);
}

static void tag_table(struct buf *b, csv *t)
{
    b->n = 0;
    for (int i = 0; i < csv_ncol(t); i++) tag(b, csv_name(t, i));
    buf_char(b, '\n');
    while (csv_next(t)) {
        for (int i = 0; i < csv_ncol(t); i++) tag(b, csv_str(t, i));
        buf_format(b, "@%zu\n", csv_line(t));
    }
    csv_close(t);
}

/* ---- the oracle: RFC 4180 with strict quotes; only for sound text */

static void oracle(struct buf *b, const char *s, size_t n)
{
    b->n = 0;
    struct buf f = { 0 };
    const char *end = s + n;
    if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) s += 3;
    bool header = true;
    size_t head = 0, row = 0;                            /* bytes of the tagged header; where this row begins */
    for (size_t line = 1, begun = 1; s < end;) {
        f.n = 0;
        buf_add(&f, "", 0);
        if (*s == '"') {
            for (s++; *s != '"' || s[1] == '"'; s++) {
                if (*s == '"') s++;
                line += *s == '\n';
                buf_char(&f, *s);
            }
            s++;
        } else {
            while (s < end && *s != ',' && *s != '\n' && !(s[0] == '\r' && (s + 1 == end || s[1] == '\n')))
                buf_char(&f, *s++);
        }
        tag(b, (str){ f.s, f.n });
        if (s < end && *s == ',') {
            s++;
            if (s < end) continue;
            tag(b, (str){ NULL, 0 });                    /* an empty last field at the very end */
        }
        if (s < end && *s == '\r') s++;
        s++;
        if (header) head = b->n, buf_char(b, '\n');
        else if (b->n - row == head && memcmp(b->s, b->s + row, head) == 0) b->n = row;   /* the header again */
        else buf_format(b, "@%zu\n", begun);
        header = false;
        row = b->n;
        begun = ++line;
    }
    free(f.s);
}

static void random_field(struct buf *b, struct rng *r, bool odd)
{
    static const char plain[] = "abcxyz 0123456789.-+_/'|;\t", all[] = "ab,\"\n\r ";
    size_t n = rng_below(r, 30) ? rng_below(r, 12) : rng_below(r, 300);
    if (odd && rng_below(r, 4) == 0) {
        buf_char(b, '"');
        for (; n > 0; n--) {
            char c = all[rng_below(r, sizeof all - 1)];
            buf_char(b, c);
            if (c == '"') buf_char(b, '"');
        }
        buf_char(b, '"');
        return;
    }
    for (; n > 0; n--) buf_char(b, plain[rng_below(r, sizeof plain - 1)]);
}

static void random_table(struct buf *b, struct rng *r)
{
    size_t ncol = 1 + rng_below(r, 6), nrow = rng_below(r, 40);
    bool crlf = rng_below(r, 3) == 0, odd = rng_below(r, 3) != 0;
    b->n = 0;
    if (rng_below(r, 10) == 0) buf_add(b, "\xef\xbb\xbf", 3);
    for (size_t i = 0; i <= nrow; i++) {
        for (size_t k = 0; k < ncol; k++) {
            if (k) buf_char(b, ',');
            if (i == 0 && odd && rng_below(r, 5) == 0) buf_format(b, "\"c,\"\"%zu\"", k);
            else if (i == 0) buf_format(b, "c%zu", k);
            else random_field(b, r, odd);
        }
        if (i < nrow || rng_below(r, 3)) buf_add(b, crlf ? "\r\n" : "\n", 1 + crlf);
        else if (b->s[b->n - 1] == '\n') buf_char(b, 'x');  /* so that the last field is not nothing at all */
    }
}

static int file_with(str text)
{
    FILE *f = tmpfile();
    if (text.n) fwrite(text.s, 1, text.n, f);
    fflush(f);
    int fd = dup(fileno(f));
    lseek(fd, 0, SEEK_SET);
    fclose(f);
    return fd;
}

static bool eq(const struct buf *a, const struct buf *b)
{
    return str_eq((str){ a->s, a->n }, (str){ b->s, b->n });
}

static void agree(void)
{
    struct buf text = { 0 }, want = { 0 }, got = { 0 }, bare = { 0 };
    int wrong = 0, torn = 0, again = 0, copied = 0;
    for (int i = 0; i < 1500; i++) {
        char key[32];
        snprintf(key, sizeof key, "csv/%d", i);
        struct rng r = rng_for(1, str_of(key));
        random_table(&text, &r);
        str s = { text.s, text.n };
        oracle(&want, text.s, text.n);
        tag_table(&got, csv_open_fd(file_with(s), "t"));
        if (!eq(&got, &want) && !wrong++) printf("# case %d: %s\n# got %s\n# want %s\n", i, text.s, got.s, want.s);
        if (i % 8 == 0) {
            pid_t pid = feed(s, i % 16 ? 100 : 3, &r);
            tag_table(&got, csv_open("-"));
            waitpid(pid, NULL, 0);
            if (!eq(&got, &want) && !torn++) printf("# case %d: %s\n# got %s\n# want %s\n", i, text.s, got.s, want.s);
        }
        /* copied, and written anew: the same table, line numbers aside */
        for (int anew = 0; anew < 2; anew++) {
            int fd = file_with((str){ "", 0 });
            csv *t = csv_open_fd(file_with(s), "t");
            csvw *w = csvw_fd(fd);
            csvw_copy_names(w, t);
            csvw_end(w);
            bare.n = got.n = 0;
            for (int k = 0; k < csv_ncol(t); k++) tag(&bare, csv_name(t, k));
            while (csv_next(t)) {
                for (int k = 0; k < csv_ncol(t); k++) tag(&bare, csv_str(t, k));
                if (anew) for (int k = 0; k < csv_ncol(t); k++) csvw_str(w, csv_str(t, k));
                else csvw_copy_all(w, t);
                csvw_end(w);
            }
            csv_close(t);
            csvw_close(w);
            lseek(fd, 0, SEEK_SET);
            t = csv_open_fd(fd, "again");
            for (int k = 0; k < csv_ncol(t); k++) tag(&got, csv_name(t, k));
            while (csv_next(t)) for (int k = 0; k < csv_ncol(t); k++) tag(&got, csv_str(t, k));
            csv_close(t);
            if (!eq(&got, &bare)) *(anew ? &again : &copied) += 1;
        }
    }
    ok(wrong == 0, "1500 random tables read as the simple reader reads them, with the lines of their rows");
    ok(torn == 0, "the same through a pipe in small pieces");
    ok(copied == 0, "copied rows read back the same");
    ok(again == 0, "rows written anew read back the same");
    free(text.s);
    free(want.s);
    free(got.s);
    free(bare.s);
}

/* records longer than the read block, with and without quotes */
static void long_records(void)
{
    struct buf b = { 0 };
    buf_add(&b, "a,b\n", 4);
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 3000 * (i % 4 ? i : 30); k++) buf_format(&b, "%d.", k % 7);
        buf_add(&b, ",\"", 2);
        for (int k = 0; k < 2000 * i; k++) buf_add(&b, "\"\",\n", 4);
        buf_add(&b, "\"\n", 2);
    }
    csv *t = csv_open_fd(file_with((str){ b.s, b.n }), "t");
    int i = 0, wrong = 0;
    size_t line = 2;
    for (; csv_next(t); i++) {
        wrong += csv_str(t, 0).n != 6000 * (size_t)(i % 4 ? i : 30) || csv_str(t, 1).n != 3 * 2000 * (size_t)i ||
                 csv_line(t) != line;
        line += 2000 * (size_t)i + 1;
    }
    ok(wrong == 0 && i == 40, "records much longer than the block that is read at once");
    csv_close(t);
    free(b.s);
}

/* ---- errors */

struct bad { const char *text; size_t n; };

static void read_all(const void *arg)
{
    const struct bad *b = arg;
    csv *t = csv_open_fd(file_with((str){ b->text, b->n }), "f.csv");
    while (csv_next(t)) {}
}

static void read_number(const void *text)
{
    csv *t = csv_open_fd(file_with(str_of(text)), "f.csv");
    int k = csv_need(t, "x_seconds");
    while (csv_next(t)) csv_num(t, k);
}

static void read_int(const void *text)
{
    csv *t = csv_open_fd(file_with(str_of(text)), "f.csv");
    while (csv_next(t)) csv_int(t, 0);
}

static void read_path(const void *path)
{
    csv *t = csv_open(path);
    while (csv_next(t)) {}
}

static bool rejects(const char *text, const char *words)
{
    struct bad b = { text, strlen(text) };
    return dies(read_all, &b, 1, words);
}

static void errors(void)
{
    ok(rejects("", "f.csv:1: empty input"), "no input at all");
    ok(rejects("a,b\n1,2\n3\n", "f.csv:3: 1 field, header has 2"), "a short row");
    ok(rejects("a,b\r\n1,2\r\n\r\n", "f.csv:3: an empty line, header has 2 fields"), "an empty line at the end");
    ok(rejects("a,b\r1,2\r3,4\r", "f.csv:1: carriage return within the header"), "lines that end in CR alone");
    ok(rejects("a,b\r\r\n1,2\r\r\n", "f.csv:1: carriage return within the header"), "lines that end in CR CR LF");
    ok(rejects("a\r\n\"1\"\r2\r\n3,4\r\n", "f.csv:2: malformed"), "and after a quote it is none of CSV");
    ok(rejects("a,b\n1,2,3\n", "f.csv:2: 3 fields, header has 2"), "a long row");
    ok(rejects("a,b\n1,2\n\n", "f.csv:3:"), "a blank line");
    ok(rejects("a,b\n1,\"x\ny\n", "f.csv:2: quote"), "a quote that is never closed");
    ok(rejects("a,b\n\"1\n2\",3\n1,x\"y\n4,\"z\"\n", "f.csv:4:"), "a stray quote, placed after a record of two lines");
    ok(rejects("a,b\n1,\"x\"y\n", "f.csv:2: malformed quoted field"), "text after a closing quote");
    ok(rejects("a,b,a\n", "f.csv:1: duplicate column 'a'"), "a column twice");
    ok(rejects("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "f.csv:1: a git-"),
       "a git-lfs pointer");
    struct bad nul = { "a,b\n1,2\n1,\0\n", 12 };
    ok(dies(read_all, &nul, 1, "f.csv:3: NUL byte"), "a NUL byte");
    ok(dies(read_number, "a,x_seconds\n1,2\n1,12x\n", 1, "f.csv:3: column 'x_seconds': '12x' is not a number"),
       "not a number");
    ok(dies(read_number, "a,x_seconds\n1,\n", 1, "f.csv:2: column 'x_seconds': '' is not a number"),
       "an empty field is no number");
    ok(dies(read_number, "a,b\n", 1, "f.csv:1: no column 'x_seconds'"), "a missing column");
    ok(dies(read_int, "a\n1\n1.5\n", 1, "f.csv:3: column 'a': '1.5' is not an integer"), "not an integer");
    ok(dies(read_path, "/nonexistent.csv", 1, "/nonexistent.csv: No such file"), "a missing file");
    ok(dies(read_path, "/", 1, "/: Is a directory"), "a directory");
    struct bad header = { "a,b", 3 };
    ok(run_child(read_all, &header) == 0, "a header without rows or line end is a table");
}

/* ---- several files */

static char dir[] = "/tmp/lib-csvio.XXXXXX";

static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    fputs(text, f);
    fclose(f);
}

static bool file_is(const char *name, const char *want)
{
    char b[1 << 16];
    FILE *f = fopen(name, "r");
    if (!f) return false;
    b[fread(b, 1, sizeof b - 1, f)] = 0;
    fclose(f);
    if (strcmp(b, want) == 0) return true;
    printf("# got %s# want %s", b, want);
    return false;
}

static void read_files(const void *paths)
{
    char *v[4];
    memcpy(v, paths, sizeof v);
    csv *t = csv_files(v);
    while (csv_next(t))
        fprintf(stderr, "%.*s@%s:%zu ", (int)csv_str(t, 0).n, csv_str(t, 0).s, csv_file(t), csv_line(t));
}

static void several(void)
{
    put_file("1", "a,b\n1,2\n");
    put_file("2", "a,b\r\n3,4");
    put_file("3", "a,c\n5,6\n");
    const char *good[4] = { "1", "2", "1" }, *bad[4] = { "1", "3" }, *gone[4] = { "1", "4" };
    ok(dies(read_files, good, 0, "1@1:2 3@2:2 1@1:2 "), "several files are one table; lines are those of each file");
    ok(dies(read_files, bad, 1, "3:1: header differs from that of 1"), "their headers must agree");
    ok(dies(read_files, gone, 1, "4: No such file"), "all of them must be there");
}

/* ---- writing */

static void values(void)
{
    csvw *w = csvw_open("v.csv");
    csvw_names(w, "a_b,c,d,e,f");
    csvw_end(w);
    csvw_num(w, 0.1);
    csvw_int(w, -5);
    csvw_cstr(w, NULL);
    csvw_known(w, NAN);
    csvw_num(w, NAN);
    csvw_end(w);
    csvw_format(w, "%d,%s", 1, "x");
    csvw_cstr(w, "say \"a\"");
    csvw_cstr(w, "l\nm");
    csvw_cstr(w, " b ");
    csvw_known(w, INFINITY);
    csvw_end(w);
    ok(csvw_close(w) == 0 &&
           file_is("v.csv", "a_b,c,d,e,f\n0.1,-5,,,nan\n\"1,x\",\"say \"\"a\"\"\",\"l\nm\", b ,inf\n"),
       "values and quotes");
    w = csvw_open("one.csv");
    csvw_cstr(w, "\xef\xbb\xbf""a");
    csvw_end(w);
    csvw_empty(w);
    csvw_end(w);
    csvw_close(w);
    ok(file_is("one.csv", "\"\xef\xbb\xbf"
                          "a\"\n\"\"\n"),
       "an empty row of one column, and a first name that begins like a byte order mark, are quoted");
    w = csvw_open("one.csv");
    csvw_cstr(w, "version https://git-lfs");
    csvw_end(w);
    csvw_close(w);
    ok(file_is("one.csv", "\"version https://git-lfs\"\n"), "so is one that would be taken for a git-lfs pointer");
}

static void append_row(const void *value)
{
    csvw *w = csvw_append("log.csv", "name,time_seconds");
    csvw_cstr(w, value);
    csvw_num(w, 0.5);
    csvw_end(w);
    if (strcmp(value, "killed") == 0) {
        csvw_cstr(w, "half");
        raise(SIGKILL);
    }
    csvw_close(w);
}

static void append_other(const void *names)
{
    csvw_append("log.csv", names);
}

static void appending(void)
{
    ok(run_child(append_row, "a") == 0 && file_is("log.csv", "name,time_seconds\na,0.5\n"),
       "a log is created with its header");
    ok(run_child(append_row, "b") == 0 && file_is("log.csv", "name,time_seconds\na,0.5\nb,0.5\n"), "rows are added");
    ok(run_child(append_row, "killed") == 256 + SIGKILL &&
           file_is("log.csv", "name,time_seconds\na,0.5\nb,0.5\nkilled,0.5\n"),
       "a kill between rows loses nothing that was ended");
    put_file("log.csv", "name,time_seconds\na,0.5\nb,0.");
    ok(dies(append_row, "c", 0, "last row is torn, dropped") && file_is("log.csv", "name,time_seconds\na,0.5\nc,0.5\n"),
       "a torn last row is dropped");
    put_file("log.csv", "name,ti");
    ok(run_child(append_row, "d") == 0 && file_is("log.csv", "name,time_seconds\nd,0.5\n"), "so is a torn header");
    struct buf big = { 0 };
    buf_add(&big, "name,time_seconds\n", 18);
    for (int i = 0; i < 9000; i++) buf_char(&big, 'x');
    put_file("log.csv", big.s);
    ok(run_child(append_row, "e") == 0 && file_is("log.csv", "name,time_seconds\ne,0.5\n"),
       "and a torn row longer than a page");
    ok(dies(append_other, "name,time_ns", 1, "log.csv:1: header differs"), "another header is refused");
    ok(dies(append_other, "name", 1, "log.csv:1: header differs"), "also a shorter one");
    ok(file_is("log.csv", "name,time_seconds\ne,0.5\n"), "and the log stays as it was");
    free(big.s);
}

static void append_same(const void *names)
{
    csvw *w = csvw_append("log.csv", names);
    csvw_cstr(w, "name");
    csvw_cstr(w, "time_seconds");
    csvw_end(w);
    csvw_close(w);
}

/* several writers at once, long texts, rows that say the same as the header */
static void writing(void)
{
    csvw *a = csvw_open("1"), *b = csvw_open("2"), *c = csvw_open("3");
    csvw *all[] = { a, b, c };
    char text[400];
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 3; i++) {
        csvw_format(all[i], "%.*s", 300 + i, text);
        csvw_end(all[i]);
    }
    csvw_close(a), csvw_close(c), csvw_close(b);
    csv *t = csv_open("2");
    ok(csv_name(t, 0).n == 301 && csv_name(t, 0).s[300] == 'x', "texts longer than most, of three writers at once");
    csv_close(t);
    put_file("log.csv", "");
    append_same("name,time_seconds");
    append_same("name,time_seconds");
    ok(file_is("log.csv", "name,time_seconds\n\"name\",time_seconds\n\"name\",time_seconds\n"),
       "rows that say the same as the header are told from it, in a log too");
    t = csv_open("log.csv");
    size_t rows = 0;
    while (csv_next(t)) rows++;
    ok(rows == 2, "and read back");
    ok(csv_num_or(t, -1, 7) == 7, "a column that is not there has the value for what is missing");
    csv_close(t);
    ok(dies(append_same, "nome,time_seconds", 1, "log.csv:1: header differs"), "one of the same length, too");
}

static void fill_disk(const void *unused)
{
    (void)unused;
    csvw *w = csvw_fd(open("/dev/full", O_WRONLY));
    csvw_cstr(w, "x");
    csvw_end(w);
    csvw_close(w);
}

static void copy_rows(void)
{
    csv *t = csv_open("-");
    csvw *w = csvw_open("-");
    while (csv_next(t)) {
        csvw_copy_all(w, t);
        csvw_end(w);
    }
}

int main(void)
{
    agree();
    long_records();
    errors();
    if (!mkdtemp(dir) || chdir(dir) != 0) return 99;
    several();
    values();
    appending();
    writing();
    static const char *const made[] = { "1", "2", "3", "v.csv", "one.csv", "log.csv" };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) unlink(made[i]);
    rmdir(dir);
    ok(dies(fill_disk, NULL, 1, "No space left"), "a full disk is noticed");
    ok(answers(copy_rows, "a,b\n", "1,2\n", "1,2\n", 1), "a row on a pipe is answered before the next one comes");
    return done();
}
