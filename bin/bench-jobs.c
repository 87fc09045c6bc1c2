/* bench-jobs - turn a grid of settings into a list of jobs
 *
 * Usage: bench-jobs --vary='NAME=V1 V2 ...' ... [--out=PATTERN] [--missing]
 *        [--command=PATTERN] [--lines]
 *
 * One job per combination; the last NAME varies fastest.  {NAME} in a pattern
 * is replaced by its value, {#} by the job's number from 1, {out} in
 * --command by the job's output file.  In a command values are quoted for sh.
 *
 * Columns out: job, one column per NAME, and out and command where given.
 * With --lines only the commands go out, one a line, for GNU parallel.
 * --missing leaves out the jobs whose output file is there and not empty, so
 * that a broken-off grid goes on.
 *
 * Examples:
 *   $ bench-jobs --vary='n=10 100' --vary='seed=1 2' --out='t/{n}-{seed}.csv' \
 *       --command='./sim {n} {seed} > {out}' --missing --lines | parallel -j1
 */
#include "base/filter.h"
#include "base/out.h"
#include HELP
#include "measure/child.h"
#include "table/csvio.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct list vary;
static const char *out_pattern, *command;
static bool missing, lines;
static const struct opt options[] = {
    { 0, "vary", LIST, &vary, "NAME=VALUES", "a setting and its values, separated by blanks" },
    { 'o', "out", STR, &out_pattern, "PATTERN", "output file of a job" },
    { 0, "command", STR, &command, "PATTERN", "shell command of a job" },
    { 0, "missing", FLAG, &missing, NULL, "only jobs without their output file" },
    { 0, "lines", FLAG, &lines, NULL, "write commands only, one a line" },
    { 0 } };

struct setting { str name; str *value; size_t n, cap, at; };

static struct setting read_setting(const char *text)
{
    const char *eq = strchr(text, '=');
    if (!eq || eq == text) usage("--vary: '%s' is not NAME=VALUES", text);
    struct setting s = { .name = { text, (size_t)(eq - text) } };
    for (const char *p = eq + 1; *(p += strspn(p, " \t\n")); p += s.value[s.n - 1].n) {
        s.value = grow(s.value, s.n + 1, &s.cap, sizeof *s.value);
        s.value[s.n++] = (str){ p, strcspn(p, " \t\n") };
    }
    if (!s.n) usage("--vary: '%s' has no values", text);
    return s;
}

static void set_job(struct setting *s, size_t job)
{
    size_t rest = job - 1;
    for (int k = vary.n; k-- > 0; rest /= s[k].n) s[k].at = rest % s[k].n;
}

/* what {name} stands for; false if nothing */
static bool lookup(const struct setting *s, str name, size_t job, const char *out, struct buf *value)
{
    value->n = 0;
    if (str_is(name, "#")) buf_format(value, "%zu", job);
    else if (out && str_is(name, "out")) buf_str(value, str_of(out));
    else {
        int i = 0;
        while (i < vary.n && !str_eq(s[i].name, name)) i++;
        if (i == vary.n) return false;
        buf_str(value, s[i].value[s[i].at]);
    }
    return true;
}

static char *fill(const char *pattern, const struct setting *s, size_t job, const char *out, bool quote)
{
    struct buf b = { 0 }, value = { 0 };
    buf_str(&b, str_of(""));
    for (const char *p = pattern; *p; ) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (!end || end == p + 1) {
            buf_char(&b, *p++);
            continue;
        }
        if (!lookup(s, (str){ p + 1, (size_t)(end - p) - 1 }, job, out, &value))
            usage("'%.*s' in '%s' is no setting", (int)(end - p) + 1, p, pattern);
        if (quote) shell_quote(&b, value.s);
        else buf_str(&b, (str){ value.s, value.n });
        p = end + 1;
    }
    free(value.s);
    return b.s;
}

static bool is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size > 0;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i < argc) usage("'%s': no operand is expected", argv[i]);
    if (!vary.n) usage("nothing varies, see --vary");
    if (missing && !out_pattern) usage("--missing needs --out");
    if (lines && !command) usage("no command to write, see --command");
    static struct setting *s;
    s = xcalloc((size_t)vary.n, sizeof *s);
    size_t jobs = 1;
    for (int k = 0; k < vary.n; k++) s[k] = read_setting(vary.v[k]), jobs *= s[k].n;
    struct intern outs = { 0 };
    for (size_t job = 1; out_pattern && job <= jobs; job++) {
        set_job(s, job);
        char *out = fill(out_pattern, s, job, NULL, false);
        if (intern(&outs, str_of(out)) < job - 1)
            usage("--out: '%s' is '%s' for two jobs: they would write over each other", out_pattern, out);
        free(out);
    }
    csvw *w = lines ? NULL : csvw_fd(1);
    if (w) {
        csvw_cstr(w, "job");
        for (int k = 0; k < vary.n; k++) csvw_str(w, s[k].name);
        if (out_pattern) csvw_cstr(w, "out");
        if (command) csvw_cstr(w, "command");
        csvw_end(w);
    }
    for (size_t job = 1; job <= jobs; job++) {
        set_job(s, job);
        const char *out = out_pattern ? outs.name[job - 1].s : NULL;
        char *line = command ? fill(command, s, job, out, true) : NULL;
        if (!missing || !is_there(out)) {
            if (!w) puts(line);
            if (w) csvw_int(w, (int64_t)job);
            for (int k = 0; w && k < vary.n; k++) csvw_str(w, s[k].value[s[k].at]);
            if (w && out) csvw_cstr(w, out);
            if (w && line) csvw_cstr(w, line);
            if (w) csvw_end(w);
        }
        free(line);
    }
    if (w) return csvw_close(w);
    return finish();
}
