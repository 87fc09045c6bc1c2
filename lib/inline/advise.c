/* advise.c - see advise.h */
#include "inline/advise.h"
#include "base/message.h"
#include "base/out.h"
#include "tree/json.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1 << 20, PATIENCE_MS = 200 };

struct channel {
    pid_t pid;
    int in, out;                                         /* answers to the compiler; its questions */
    struct buf buf;
    size_t at;
    bool ended, broken;
    int status;
    char *dir, *in_path, *out_path;
};

/* the pipes must stay while the compiler runs: one command line may start several compilations, each opens them anew */
static const struct channel *current;

static void remove_pipes(void)
{
    if (!current) return;
    unlink(current->in_path);
    unlink(current->out_path);
    rmdir(current->dir);
    current = NULL;
}

static bool compiler_ended(struct channel *c)
{
    if (!c->ended && waitpid(c->pid, &c->status, WNOHANG) == c->pid) c->ended = true;
    return c->ended;
}

/* More bytes; false when there will be none.  We hold both ends of the pipe open, so that opening cannot block when the
 * compiler dies early; therefore its end shows only as its exit. */
static bool fill(struct channel *c)
{
    if (c->at) {
        memmove(c->buf.s, c->buf.s + c->at, c->buf.n - c->at);
        c->buf.n -= c->at;
        c->at = 0;
    }
    for (;;) {
        char b[1 << 16];
        ssize_t n = read(c->out, b, sizeof b);
        if (n > 0) {
            buf_add(&c->buf, b, (size_t)n);
            return true;
        }
        c->broken = n < 0 && errno != EAGAIN && errno != EINTR;
        if (c->broken || c->ended) return false;
        struct pollfd p = { .fd = c->out, .events = POLLIN };
        if (poll(&p, 1, PATIENCE_MS) == 0) compiler_ended(c);
    }
}

/* the next line without its end; false at the end of the stream, or where a line does not end */
static bool line(struct channel *c, str *s, bool *endless)
{
    for (size_t from = 0; !(*endless = from > LINE_MAX_BYTES);) {
        char *end = c->buf.n > c->at + from ? memchr(c->buf.s + c->at + from, '\n', c->buf.n - c->at - from) : NULL;
        if (end) {
            *s = (str){ c->buf.s + c->at, (size_t)(end - c->buf.s) - c->at };
            c->at += s->n + 1;
            return true;
        }
        from = c->buf.n - c->at;
        if (!fill(c)) return false;
    }
    return false;
}

static bool bytes(struct channel *c, void *to, size_t n)
{
    while (c->buf.n - c->at < n) if (!fill(c)) return false;
    memcpy(to, c->buf.s + c->at, n);
    c->at += n;
    return true;
}

size_t advise_header(str text, str name[ADVISE_FEATURES], struct arena *a)
{
    size_t n = 0;
    jsonr *j = json_open_text(text.s, text.n, "the compiler's header");
    json_tolerate(j);
    str key;
    bool good = json_next(j) == JSON_OBJECT;
    while (good && json_key(j, &key)) {
        if (!str_is(key, "features")) {
            json_skip(j);
            continue;
        }
        if (json_next(j) != JSON_ARRAY) break;
        while (good && json_next(j) == JSON_OBJECT)
            while (good && json_key(j, &key)) {
                if (!str_is(key, "name")) {
                    json_skip(j);
                    continue;
                }
                good = json_next(j) == JSON_STRING && n < ADVISE_FEATURES;
                if (good) name[n++] = (str){ arena_copy(a, json_str(j).s, json_str(j).n), json_str(j).n };
            }
    }
    if (json_fault(j)) good = false;
    json_close(j);
    return good ? n : 0;
}

static const char *talk(struct channel *c, bool (*decide)(const struct query *, void *), void *closure, size_t *queries)
{
    static str name[ADVISE_FEATURES];
    static int64_t value[ADVISE_FEATURES];
    static struct arena text;
    size_t n = 0;
    str s;
    bool endless;
    while (line(c, &s, &endless)) {
        if (n == 0) {
            n = advise_header(s, name, &text);
            if (n == 0) return "the compiler sent no list of features";
        } else if (s.n > 15 && memcmp(s.s, "{\"observation\":", 15) == 0) {
            char end;
            if (!bytes(c, value, n * sizeof *value) || !bytes(c, &end, 1) || end != '\n')
                return "a question ended early";
            struct query q = { *queries, name, value, n };
            int64_t v = decide(&q, closure);
            if (!write_all(c->in, &v, sizeof v)) return "the compiler does not take answers";
            ++*queries;
        }
    }
    return endless ? "the compiler sent a line without an end"
           : c->broken ? "what the compiler asks cannot be read" : NULL;
}

int advise(char *const *argv, bool (*decide)(const struct query *, void *), void *closure, size_t *queries,
           const char **why)
{
    char *dir = out_scratch("advise");
    char *base = xformat("%s/channel", dir);
    struct channel c = { .dir = dir, .in_path = xformat("%s.in", base), .out_path = xformat("%s.out", base) };
    current = &c;
    atexit(remove_pipes);                                /* decide may die */
    if (mkfifo(c.in_path, 0600) != 0 || mkfifo(c.out_path, 0600) != 0) die_errno("%s", base);
    c.in = open(c.in_path, O_RDWR | O_CLOEXEC);
    c.out = open(c.out_path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (c.in < 0 || c.out < 0) die_errno("%s", base);
    size_t n = 0;
    while (argv[n]) n++;
    char *option = xformat("-inliner-interactive-channel-base=%s", base);
    const char *added[] = { "-mllvm", "-enable-ml-inliner=release", "-mllvm", option,
                            "-mllvm", "-ml-advisor-size-increase-threshold=1000000" };
    enum { ADDED = sizeof added / sizeof *added };
    const char **all = xcalloc(n + ADDED + 1, sizeof *all);
    for (size_t i = 0; i < n; i++) all[i] = argv[i];
    for (size_t i = 0; i < ADDED; i++) all[n + i] = added[i];
    fflush(stdout);
    c.pid = fork();
    if (c.pid < 0) die_errno("fork");
    if (c.pid == 0) {
        current = NULL;
        signal(SIGPIPE, SIG_DFL);
        execvp(all[0], (char **)(uintptr_t)all);
        die_errno("%s", all[0]);
    }
    *queries = 0;
    *why = talk(&c, decide, closure, queries);
    if (*why) kill(c.pid, SIGKILL);
    while (!c.ended) {
        if (waitpid(c.pid, &c.status, 0) == c.pid) c.ended = true;
        else if (errno != EINTR) die_errno("wait");
    }
    remove_pipes();
    close(c.in);
    close(c.out);
    free_all(all, option, base, c.in_path, c.out_path, dir, c.buf.s);
    if (*why) return -1;
    if (WIFSIGNALED(c.status)) {
        *why = "the compiler was killed by a signal";
        return -1;
    }
    return WEXITSTATUS(c.status);
}
