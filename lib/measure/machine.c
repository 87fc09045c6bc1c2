/* machine.c - see machine.h */
#include "measure/machine.h"
#include "base/mem.h"
#include "base/message.h"
#include <errno.h>
#include <gnu/libc-version.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static void fact(struct machine *m, const char *name, char *value)
{
    if (m->n < sizeof m->fact / sizeof *m->fact) m->fact[m->n++] = (struct fact){ name, value };
}

static char *trimmed(char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n && strchr(" \t\n", s[n - 1])) s[--n] = 0;
    return s;
}

/* What a machine does not have is not known; what it has and cannot be read, for want of memory or descriptors, is an
 * error: a fingerprint would be another one without it. */
static FILE *fact_file(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f && (errno == ENOMEM || errno == EMFILE || errno == ENFILE)) die_errno("%s", path);
    return f;
}

/* the first line; NULL if it cannot be read */
static char *line_of(FILE *f)
{
    char line[4096];
    return f && fgets(line, sizeof line, f) ? xstrdup(trimmed(line)) : NULL;
}

/* of a small file of /proc or /sys */
static char *first_line(const char *path)
{
    FILE *f = fact_file(path);
    char *r = line_of(f);
    if (f) fclose(f);
    return r;
}

/* the value behind "name :" in a file of such lines */
static char *named_line(const char *path, const char *name)
{
    char line[8192], *r = NULL;
    size_t n = strlen(name);
    FILE *f = fact_file(path);
    while (f && !r && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, name, n) == 0 && strspn(line + n, " \t") == (size_t)(colon - line) - n)
            r = xstrdup(trimmed(colon + 1));
    }
    if (f) fclose(f);
    return r;
}

static char *caches(void)
{
    struct buf b = { 0 };
    for (int i = 0; i < 8; i++) {
        char path[128];
        char *part[3];
        static const char *const file[] = { "level", "type", "size" };
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, file[k]);
            part[k] = first_line(path);
        }
        if (part[0] && part[1] && part[2]) buf_format(&b, "%sL%s%.1s %s", b.n ? ", " : "", part[0], part[1], part[2]);
        for (int k = 0; k < 3; k++) free(part[k]);
    }
    return b.s;
}

static char *command_line(const char *command)
{
    FILE *f = popen(command, "re");
    if (!f) die_errno("%s", command);
    char *r = line_of(f);
    pclose(f);
    return r;
}

static char *environment_bytes(void)
{
    size_t n = 0;
    for (char **e = environ; *e; e++) n += strlen(*e) + 1;
    return xformat("%zu", n);
}

/* are there hardware counters? why: errno text when not */
static bool machine_counts(const char **why)
{
    struct perf_event_attr a = { .type = PERF_TYPE_HARDWARE,
                                 .size = sizeof a,
                                 .config = PERF_COUNT_HW_INSTRUCTIONS,
                                 .exclude_kernel = 1,
                                 .exclude_hv = 1 };
    int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    *why = fd < 0 ? strerrorname_np(errno) : "";
    if (fd < 0) return false;
    close(fd);
    return true;
}

static bool identifies(const char *name)
{
    static const char *const names[] = { "cpu_model", "cpu_flags_hash", "cores",      "caches", "memory",
                                         "kernel",    "architecture",   "hypervisor", "libc" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) if (strcmp(names[i], name) == 0) return true;
    return false;
}

struct machine machine_read(void)
{
    struct machine m = { .n = 0 };
    struct utsname u;
    uname(&u);
    fact(&m, "cpu_model", named_line("/proc/cpuinfo", "model name"));
    char *flags = named_line("/proc/cpuinfo", "flags");
    fact(&m, "cpu_flags_hash",
         flags ? xformat("%016llx", (unsigned long long)hash_bytes(flags, strlen(flags), 0)) : NULL);
    fact(&m, "cores", xformat("%ld", sysconf(_SC_NPROCESSORS_ONLN)));
    fact(&m, "smt", first_line("/sys/devices/system/cpu/smt/active"));
    fact(&m, "caches", caches());
    fact(&m, "memory", named_line("/proc/meminfo", "MemTotal"));
    fact(&m, "kernel", xformat("%s %s", u.sysname, u.release));
    fact(&m, "architecture", xstrdup(u.machine));
    fact(&m, "hypervisor", xstrdup(flags && strstr(flags, " hypervisor") ? "yes" : "no"));
    fact(&m, "governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
    fact(&m, "clocksource", first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    fact(&m, "randomize_va_space", first_line("/proc/sys/kernel/randomize_va_space"));
    fact(&m, "perf_event_paranoid", first_line("/proc/sys/kernel/perf_event_paranoid"));
    const char *why;
    fact(&m, "hardware_counters", machine_counts(&why) ? xstrdup("yes") : xformat("none (%s)", why));
    fact(&m, "cpu_limit", first_line("/sys/fs/cgroup/cpu.max"));
    fact(&m, "memory_limit", first_line("/sys/fs/cgroup/memory.max"));
    fact(&m, "libc", xformat("glibc %s", gnu_get_libc_version()));
    fact(&m, "compiler", command_line("cc --version 2>/dev/null"));
    /* describe --dirty writes the index of the user, and killed then leaves a lock that stops the next commit */
    fact(&m, "git", command_line("c=$(git describe --always 2>/dev/null) && echo \"$c$(git --no-optional-locks status"
                                 " --porcelain -uno 2>/dev/null | sed -n '1s/.*/-dirty/p')\""));
    fact(&m, "environment_bytes", environment_bytes());
    uint64_t h = 0;
    for (size_t i = 0; i < m.n; i++)
        if (m.fact[i].value && identifies(m.fact[i].name))
            h = hash_bytes(m.fact[i].value, strlen(m.fact[i].value), h + i);
    snprintf(m.fingerprint, sizeof m.fingerprint, "%016llx", (unsigned long long)h);
    free(flags);
    return m;
}

double machine_load(void)
{
    double load[1];
    return getloadavg(load, 1) == 1 ? load[0] : NAN;
}

int64_t machine_steal_ticks(void)
{
    long long v[8];
    FILE *f = fopen("/proc/stat", "re");
    if (!f) return -1;
    int n = fscanf(f, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
                   &v[7]);
    fclose(f);
    return n == 8 ? v[7] : -1;
}
