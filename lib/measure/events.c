/* events.c - see events.h */
#include "measure/events.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct perf_event_attr attributes(const char *name, int *err)
{
    struct perf_event_attr a = { .size = sizeof a };
    pfm_perf_encode_arg_t arg = { .attr = &a, .size = sizeof arg };
    *err = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
    a.disabled = a.inherit = a.enable_on_exec = 1;
    a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return a;
}

/* with the kernel's share, or without it where that is forbidden */
static int open_event(struct perf_event_attr *a, pid_t pid)
{
    int fd = (int)syscall(SYS_perf_event_open, a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0 || (errno != EACCES && errno != EPERM)) return fd;
    a->exclude_kernel = a->exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void set_source(struct counted_event *e, int fd)
{
    e->counted = fd >= 0;
    if (e->counted) snprintf(e->source, sizeof e->source, "perf");
    else snprintf(e->source, sizeof e->source, "none (%s)", strerrorname_np(errno));
}

const char *event_find(struct counted_event *e, const char *name)
{
    *e = (struct counted_event){ .name = name, .fd = -1, .count = NAN };
    size_t n = (size_t)snprintf(e->column, sizeof e->column, "n_%s", name);
    for (size_t i = 0; e->column[i] && i < n; i++)
        e->column[i] = isalnum((unsigned char)e->column[i]) ? (char)tolower((unsigned char)e->column[i]) : '_';
    int err = pfm_initialize();
    if (err != PFM_SUCCESS) return pfm_strerror(err);
    struct perf_event_attr a = attributes(name, &err);
    if (err != PFM_SUCCESS) return pfm_strerror(err);
    int fd = open_event(&a, 0);
    set_source(e, fd);
    if (fd >= 0) close(fd);
    return NULL;
}

void event_attach(struct counted_event *e, pid_t pid)
{
    int err;
    struct perf_event_attr a = attributes(e->name, &err);
    e->fd = open_event(&a, pid);
    set_source(e, e->fd);
}

void event_read(struct counted_event *e)
{
    uint64_t v[3];
    e->count = NAN;
    if (e->fd < 0) return;
    if (read(e->fd, v, sizeof v) == (ssize_t)sizeof v && v[2]) {
        e->count = (double)v[0];
        if (v[2] < v[1]) {
            e->count *= (double)v[1] / (double)v[2];
            snprintf(e->source, sizeof e->source, "perf, scaled by %.2f", (double)v[1] / (double)v[2]);
        }
    }
    close(e->fd);
    e->fd = -1;
}
