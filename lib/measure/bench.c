/* bench.c - see bench.h */
#include "measure/bench.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/progress.h"
#include "measure/clock.h"
#include "measure/count.h"
#include "measure/order.h"
#include "measure/stats.h"
#include "table/kind.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum phase { CALIBRATE, WARMUP, AA, MEASURE };
static const char *const phase_name[] = { "calibrate", "warmup", "aa", "measure" };
enum { MAX_WARMUP = 10, EMPTY_RUNS = 5 };
/* a round is warm when the median label gained less than this */
static const double warm_enough = 0.01;

static const char columns[] =
    "label,round,position,phase,wall_seconds,cpu_seconds,user_seconds,sys_seconds,max_rss_bytes,minor_faults,"
    "major_faults,voluntary_switches,involuntary_switches,exit,signal,status,cpu,load,steal_ticks,output_bytes,"
    "output_hash,build,machine,benchmark,kind,stop,seed,base";

char *bench_columns(const struct bench *b)
{
    struct buf s = { 0 };
    buf_format(&s, "%s", columns);
    for (size_t i = 0; i < b->events; i++) buf_format(&s, ",%s,%s_source", b->event[i].column, b->event[i].column);
    return s.s;
}

static void subject_build(struct subject *s, const char *directory)
{
    struct stat st;
    char *path = program_in(directory, s->argv[0]);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    free(path);
    s->build[0] = 0;
    if (fd < 0) return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) {
            snprintf(s->build, sizeof s->build, "%016llx", (unsigned long long)hash_bytes(p, (size_t)st.st_size, 0));
            munmap(p, (size_t)st.st_size);
        }
    }
    close(fd);
}

char **bench_words(const char *command, bool shell)
{
    const char *why;
    if (shell) {
        char **argv = xmalloc(4, sizeof *argv);
        argv[0] = xstrdup("/bin/sh");
        argv[1] = xstrdup("-c");
        argv[2] = xstrdup(command);
        argv[3] = NULL;
        return argv;
    }
    char **argv = shell_words(command, &why);
    if (!argv) usage("command '%s': %s (see --shell)", command, why);
    return argv;
}

void bench_subjects(struct bench *b, const struct list *labels, char **commands, size_t n, bool shell)
{
    if (!n) usage("no command given");
    if (labels->n && (size_t)labels->n != n) usage("%d labels but %zu commands", labels->n, n);
    b->subject = xcalloc(b->n = n, sizeof *b->subject);
    for (size_t i = 0; i < n; i++) {
        struct subject *s = &b->subject[i];
        s->label = labels->n ? labels->v[i] : commands[i];
        for (size_t j = 0; j < i; j++)
            if (strcmp(b->subject[j].label, s->label) == 0) usage("label '%s' is given twice", s->label);
        s->argv = bench_words(commands[i], shell);
        subject_build(s, b->child.directory);
    }
}

void bench_only(struct bench *b, const char *const *label, size_t n)
{
    struct subject *some = xcalloc(n, sizeof *some);
    for (size_t k = 0; k < n; k++) {
        size_t i = 0;
        while (i < b->n && strcmp(b->subject[i].label, label[k]) != 0) i++;
        if (i == b->n) usage("no command is labelled '%s'", label[k]);
        some[k] = b->subject[i];
    }
    b->subject = some;
    b->n = n;
}

int bench_to(struct bench *b, const char *path)
{
    measure_lock();                                      /* another one that fills this table has ended then */
    b->machine = machine_read();
    char *names = bench_columns(b);
    if (strcmp(path, "-") != 0) {
        b->out = csvw_append(path, names);
        bench_resume(b, path);
    } else {
        b->out = csvw_fd(1);
        csvw_names(b->out, names);
        csvw_end(b->out);
        csvw_flush(b->out);
    }
    bench_run(b);
    free(names);
    return csvw_close(b->out);
}

static void prepare_state(struct bench *b)
{
    size_t rounds = (size_t)b->rounds, all = rounds * b->n;
    b->d = xmalloc(all + 1, sizeof *b->d);
    b->done = xcalloc(all + 1, sizeof *b->done);
    b->aa_done = xcalloc(2 * rounds + 1, sizeof *b->aa_done);
    for (size_t i = 0; i < all; i++) b->d[i] = NAN;
}

static void attach_events(pid_t pid, void *arg)
{
    struct bench *b = arg;
    for (size_t i = 0; i < b->events; i++) event_attach(&b->event[i], pid);
}

/* ok, or how the run went wrong; the first output of the base (or of the label) is the one demanded from then on */
static const char *judge(struct bench *b, struct subject *s, const struct ran *r)
{
    if (r->how != RAN_EXIT) return ran_word(r);
    if (r->code != b->expect_exit) return "exit";
    if (b->output == OUTPUT_ANY) return "ok";
    struct subject *whose = b->output == OUTPUT_SAME ? &b->subject[0] : s;
    if (!whose->output_known) {
        whose->output_known = true;
        whose->output_hash = r->output_hash;
    }
    return r->output_hash == whose->output_hash ? "ok" : "output";
}

static bool is_time_limit(const char *status)
{
    return strcmp(status, "timeout") == 0 || strcmp(status, "cpu_limit") == 0;
}

static void explain(const struct bench *b, const struct subject *s, const struct ran *r, const char *status, long round)
{
    if (r->how == RAN_NOT_STARTED) die("label '%s': %s: %s", s->label, s->argv[0], strerror(r->error));
    if (strcmp(status, "exit") == 0)
        warn("label '%s', round %ld: exit status %d, not %d", s->label, round, r->code, b->expect_exit);
    else if (strcmp(status, "signal") == 0)
        warn("label '%s', round %ld: killed by signal %d", s->label, round, r->signal);
    else if (strcmp(status, "output") == 0)
        warn("label '%s', round %ld: output differs from that of %s (--output-rule=own or any, if it may)", s->label,
             round, b->output == OUTPUT_SAME ? "the first label" : "its first run");
    else warn("label '%s', round %ld: stopped at its limit (%s)", s->label, round, status);
}

static void write_row(struct bench *b, const struct subject *s, const struct ran *r, enum phase phase, long round,
                      size_t position, const char *status, int64_t steal)
{
    csvw *w = b->out;
    csvw_cstr(w, s->label);
    csvw_int(w, round);
    csvw_int(w, (int64_t)position);
    csvw_cstr(w, phase_name[phase]);
    csvw_num(w, r->wall_seconds);
    csvw_num(w, r->cpu_seconds);
    csvw_num(w, r->user_seconds);
    csvw_num(w, r->system_seconds);
    csvw_known(w, r->rss_bytes);
    csvw_int(w, r->minor_faults);
    csvw_int(w, r->major_faults);
    csvw_int(w, r->voluntary_switches);
    csvw_int(w, r->involuntary_switches);
    if (r->how == RAN_EXIT) csvw_int(w, r->code);
    else csvw_empty(w);
    csvw_int(w, r->signal);
    csvw_cstr(w, status);
    if (r->cpu >= 0) csvw_int(w, r->cpu);
    else csvw_empty(w);
    csvw_known(w, machine_load());
    if (steal >= 0) csvw_int(w, steal);
    else csvw_empty(w);
    csvw_int(w, (int64_t)r->output_bytes);
    csvw_format(w, "%016llx", (unsigned long long)r->output_hash);
    csvw_cstr(w, s->build);
    csvw_cstr(w, b->machine.fingerprint);
    csvw_cstr(w, b->benchmark);
    kind_write(w, KIND_REAL);
    csvw_cstr(w, b->decide || b->half_width > 0 ? "sequential" : "fixed");
    csvw_format(w, "%llu", (unsigned long long)b->seed);
    csvw_cstr(w, b->subject[0].label);
    for (size_t i = 0; i < b->events; i++) {
        csvw_known(w, b->event[i].count);
        csvw_cstr(w, b->event[i].source);
    }
    csvw_end(w);
    csvw_flush(w);
}

/* one execution and its row; returns the time of the metric, nan where it counts as an error */
static double run_once(struct bench *b, struct subject *s, enum phase phase, long round, size_t position)
{
    struct child c = b->child;
    if (b->prepare) {
        c.argv = b->prepare;
        struct ran p = b->execute(&c);
        if (p.how != RAN_EXIT || p.code != 0)
            die("--prepare: %s: %s", b->prepare[0], p.how == RAN_NOT_STARTED ? strerror(p.error) : "failed");
    }
    c.argv = s->argv;
    if (b->events) c.started = attach_events, c.started_arg = b;
    int64_t steal = machine_steal_ticks();
    struct ran r = b->execute(&c);
    if (steal >= 0) steal = machine_steal_ticks() - steal;
    for (size_t i = 0; i < b->events; i++) event_read(&b->event[i]);
    const char *status = phase == CALIBRATE ? ran_word(&r) : judge(b, s, &r);
    bool good = strcmp(status, "ok") == 0;
    if (!good && phase != CALIBRATE && !s->errors++) explain(b, s, &r, status, round);
    write_row(b, s, &r, phase, round, position, status, steal);
    if (!good && !is_time_limit(status)) {
        b->errors++;
        return NAN;
    }
    return b->by_wall ? r.wall_seconds : r.cpu_seconds;
}

static void calibrate(struct bench *b)
{
    char name[] = "true", *argv[] = { name, NULL };
    struct subject empty = { .label = "(empty)", .argv = argv };
    subject_build(&empty, NULL);
    if (!empty.build[0]) return;
    int expect = b->expect_exit;
    b->expect_exit = 0;
    for (long i = 0; i < EMPTY_RUNS; i++) run_once(b, &empty, CALIBRATE, i, 0);
    b->expect_exit = expect;
}

/* whole rounds, until the median label is no longer clearly faster than in all its rounds before */
static void warm_up(struct bench *b)
{
    size_t *order = xmalloc(b->n, sizeof *order);
    double *least = xmalloc(b->n, sizeof *least), *first = xmalloc(b->n, sizeof *first),
           *gain = xmalloc(b->n, sizeof *gain);
    long most = b->warmup < 0 ? MAX_WARMUP : b->warmup;
    for (long round = b->warmup_done; round < most; round++) {
        order_round(b->seed + 1, b->n, (size_t)round, order);
        size_t m = 0;
        for (size_t p = 0; p < b->n; p++) {
            size_t l = order[p];
            double t = run_once(b, &b->subject[l], WARMUP, round, p);
            if (round == b->warmup_done) first[l] = least[l] = t;
            else if (t > 0 && least[l] > 0) gain[m++] = log(least[l] / t);
            if (t < least[l] || isnan(least[l])) least[l] = t;
        }
        b->warmup_rounds++;
        if (b->warmup < 0 && round > b->warmup_done && !(median(gain, m) > warm_enough)) break;
    }
    size_t m = 0;
    for (size_t l = 0; b->warmup_rounds && l < b->n; l++)
        if (first[l] > 0 && least[l] > 0) gain[m++] = first[l] / least[l];
    b->first_over_last = median(gain, m);
    free_all(order, least, first, gain);
}

static bool out_of_time(const struct bench *b, int64_t start, double share)
{
    return b->max_seconds > 0 && 1e-9 * (double)(now_ns() - start) > share * b->max_seconds;
}

static void noise_floor(struct bench *b, int64_t start)
{
    for (long round = 0; round < b->rounds && !out_of_time(b, start, 0.5); round++)
        for (size_t p = 0; p < 2; p++)
            if (!b->aa_done[2 * (size_t)round + p]) {
                progress(0, "noise floor, round %ld", round + 1);
                run_once(b, &b->subject[0], AA, round, p);
            }
}

static bool told(const struct bench *b, struct interval i)
{
    double same = log1p(b->margin);
    if (b->decide) return i.lower > 0 || i.upper < 0 || (i.lower > -same && i.upper < same);
    return i.upper - i.lower <= 2 * b->half_width;
}

/* may be asked after every round: a confidence sequence holds at all of them at once */
static bool enough(const struct bench *b, long rounds)
{
    if (!b->decide && !(b->half_width > 0)) return false;
    double *d = xmalloc((size_t)rounds + 1, sizeof *d);
    bool all = b->n > 1;
    for (size_t l = 1; l < b->n && all; l++) {
        size_t m = 0;
        for (long r = 0; r < rounds; r++) if (!isnan(b->d[(size_t)r * b->n + l])) d[m++] = b->d[(size_t)r * b->n + l];
        all = told(b, median_sequence(d, m, b->confidence, variance_inflation(d, m)));
    }
    free(d);
    return all;
}

static void one_round(struct bench *b, long round, size_t *order, double *t)
{
    order_round(b->seed, b->n, (size_t)round, order);
    bool whole = true;
    for (size_t p = 0; p < b->n; p++) {
        size_t l = order[p];
        bool done = b->done[(size_t)round * b->n + l];
        whole &= !done;
        if (!done) t[l] = run_once(b, &b->subject[l], MEASURE, round, p);
    }
    for (size_t l = 0; whole && l < b->n; l++) b->d[(size_t)round * b->n + l] = log(t[l] / t[0]);
}

void bench_run(struct bench *b)
{
    int64_t start = now_ns();
    if (!b->d) prepare_state(b);
    b->stopped = "rounds";
    bool left = false;
    for (size_t i = 0; i < (size_t)b->rounds * b->n; i++) left |= !b->done[i];
    if (!left) return;
    size_t *order = xmalloc(b->n, sizeof *order);
    double *t = xmalloc(b->n, sizeof *t);
    progress_start("bench-run", (double)b->rounds);
    calibrate(b);
    warm_up(b);
    if (b->aa) noise_floor(b, start);
    for (long round = 0; round < b->rounds; round++) {
        if (out_of_time(b, start, 1)) {
            b->stopped = "time";
            break;
        }
        one_round(b, round, order, t);
        b->rounds_run = round + 1;
        progress((double)b->rounds_run, "%s", "");
        if (enough(b, b->rounds_run)) {
            b->stopped = b->decide ? "decided" : "width";
            break;
        }
    }
    progress_end();
    free(order);
    free(t);
}

struct seen { int label, round, position, phase, status, build, hash, seed, machine, benchmark, wall, cpu; };

static void take_row(struct bench *b, csv *t, const struct seen *c)
{
    str phase = csv_str(t, c->phase);
    if (str_is(phase, "calibrate") || !str_is(csv_str(t, c->benchmark), b->benchmark)) return;
    if (csv_int(t, c->seed) != (int64_t)b->seed)
        die_at(csv_file(t), csv_line(t), "begun with --seed=%ld", (long)csv_int(t, c->seed));
    if (!str_is(csv_str(t, c->machine), b->machine.fingerprint))
        die_at(csv_file(t), csv_line(t), "begun on another machine; name another file");
    size_t l = 0;
    while (l < b->n && !str_is(csv_str(t, c->label), b->subject[l].label)) l++;
    if (l == b->n)
        die_at(csv_file(t), csv_line(t), "begun with a label '%.*s' that is not given now", (int)csv_str(t, c->label).n,
               csv_str(t, c->label).s);
    if (!str_is(csv_str(t, c->build), b->subject[l].build))
        die_at(csv_file(t), csv_line(t), "the program of label '%s' has changed since; name another file",
               b->subject[l].label);
    long round = (long)csv_int(t, c->round);
    if (str_is(phase, "warmup")) {
        if (round + 1 > b->warmup_done) b->warmup_done = round + 1;
        return;
    }
    struct subject *s = &b->subject[b->output == OUTPUT_SAME ? 0 : l];
    if (!s->output_known && str_is(csv_str(t, c->status), "ok")) {
        char text[17] = "";
        memcpy(text, csv_str(t, c->hash).s, csv_str(t, c->hash).n < 16 ? csv_str(t, c->hash).n : 16);
        s->output_known = true;
        s->output_hash = strtoull(text, NULL, 16);
    }
    if (round < 0 || round >= b->rounds) return;
    if (str_is(phase, "aa")) {
        b->aa_done[2 * round + (csv_int(t, c->position) & 1)] = true;
        return;
    }
    b->done[(size_t)round * b->n + l] = true;
    if (str_is(csv_str(t, c->status), "ok"))
        b->d[(size_t)round * b->n + l] = log(csv_num(t, b->by_wall ? c->wall : c->cpu));
}

void bench_resume(struct bench *b, const char *path)
{
    prepare_state(b);
    static csv *t;                                       /* reachable when a row is refused */
    t = csv_open(path);
    struct seen c = { csv_need(t, "label"),       csv_need(t, "round"),        csv_need(t, "position"),
                      csv_need(t, "phase"),       csv_need(t, "status"),       csv_need(t, "build"),
                      csv_need(t, "output_hash"), csv_need(t, "seed"),         csv_need(t, "machine"),
                      csv_need(t, "benchmark"),   csv_need(t, "wall_seconds"), csv_need(t, "cpu_seconds") };
    while (csv_next(t)) take_row(b, t, &c);
    csv_close(t);
    for (long r = 0; r < b->rounds; r++)                 /* logs of times become log-ratios */
        for (size_t l = b->n; l-- > 0; ) b->d[(size_t)r * b->n + l] -= b->d[(size_t)r * b->n];   /* the base last */
}
