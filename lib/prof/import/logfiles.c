/* logfiles.c - see logfiles.h */
#include "prof/import/logfiles.h"
#include "base/mem.h"
#include "base/message.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EARLY = LOG_HALF / 2 };                           /* ticks or ns: a record takes longer than one of them */

struct log_bytes log_bytes_of(const char *path, size_t most)
{
    struct log_bytes m = { NULL, 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0) return m;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        size_t size = (uint64_t)st.st_size < most ? (size_t)st.st_size : most;
        m.p = xmalloc(size, 1);
        ssize_t n = 1;
        while (m.n < size && (n = pread(fd, m.p + m.n, size - m.n, (off_t)m.n)) > 0) m.n += (size_t)n;
        if (n < 0) die_errno("%s", path);
    }
    close(fd);
    return m;
}

static bool log_head_of(const char *path, struct log_head *h, uint64_t *records)
{
    struct stat st;
    struct log_bytes m = stat(path, &st) == 0 ? log_bytes_of(path, LOG_HEAD) : (struct log_bytes){ NULL, 0 };
    bool good = m.n == LOG_HEAD;
    if (good) {
        memcpy(h, m.p, sizeof *h);
        good = memcmp(h->magic, LOG_MAGIC, sizeof LOG_MAGIC) == 0 && h->version == LOG_VERSION && h->half > 0
            && h->half <= 1u << 20;
        *records = ((uint64_t)st.st_size - LOG_HEAD) / sizeof(struct log_record);
    }
    free(m.p);
    return good;
}

static char *tail_path(const char *path)
{
    return xformat("%.*stail", (int)strlen(path) - 3, path);
}

static void add_segment(struct log_source *s, bool tail, uint64_t first, uint64_t n)
{
    if (!n) return;
    s->segment = grow(s->segment, s->nsegment + 1, &s->segment_cap, sizeof *s->segment);
    s->segment[s->nsegment++] = (struct log_segment){ tail, first, n };
}

/* Where the records lie: the log, then the half of the ring that was not written to it.  A log of which only the last
 * halves are kept has the oldest behind the newest.  False: not a log. */
bool log_find_records(struct log_source *s)
{
    char *tail = tail_path(s->path);
    struct log_head ring;
    uint64_t n = 0, room = 0;
    bool log = log_head_of(s->path, &s->head, &n);
    bool rest = log_head_of(tail, &ring, &room) && room >= 2 * (uint64_t)ring.half;
    if (rest) s->head = ring;                            /* the newer one */
    const struct log_head *h = &s->head;
    uint64_t kept = h->kept, half = h->half, halves = log ? n / half : 0;
    free(tail);
    if (!log && !rest) return false;
    if (!log) n = 0;
    if (kept) {
        uint64_t ends = h->clean ? h->totals.records % half : 0;   /* the last half of an orderly end is short */
        halves = h->halves;
        if (kept > 1u << 20 || (halves < kept ? halves : kept) > n / half + 1) return false;
        for (uint64_t k = halves > kept ? halves - kept : 0; k < halves; k++)
            add_segment(s, false, k % kept * half, k + 1 == halves && ends ? ends : half);
    } else add_segment(s, false, 0, n);
    if (rest && !h->clean) add_segment(s, true, (halves & 1) * half, half);
    return true;
}

void log_rewind(struct log_source *s)
{
    s->part = 0;
    s->at = s->last = 0;
    s->next = s->have = 0;
}

static size_t read_chunk(struct log_source *s)
{
    const struct log_segment *g = &s->segment[s->part];
    char *path = g->tail ? tail_path(s->path) : NULL;
    uint64_t left = g->n - s->at, n = left < LOG_CHUNK ? left : LOG_CHUNK;
    int fd = open(path ? path : s->path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0
                         : pread(fd, s->chunk, n * sizeof *s->chunk,
                                 (off_t)(LOG_HEAD + (g->first + s->at) * sizeof *s->chunk));
    if (fd >= 0) close(fd);
    free(path);
    s->next = 0;
    s->have = got > 0 ? (size_t)got / sizeof *s->chunk : 0;
    s->at += s->have;
    return s->have;
}

/* the next record, NULL at the end; *tail: it comes from the ring, where it ends with a record older than the last.  By
 * less than EARLY it is none of those that the ring held before, which are half a ring older: the thread has moved to a
 * processor whose counter is behind. */
const struct log_record *log_next_record(struct log_source *s, bool *tail)
{
    while (s->next == s->have) {
        if (s->part == s->nsegment) return NULL;
        if (s->at < s->segment[s->part].n && read_chunk(s)) continue;
        s->part++;
        s->at = 0;
    }
    const struct log_record *r = &s->chunk[s->next++];
    *tail = s->segment[s->part].tail;
    bool zero = !r->t && !r->event;                      /* no event's number: what the ring had room for */
    if (zero || (*tail && (!r->t || (r->t < s->last && s->last - r->t > EARLY)))) {
        s->next = s->have = 0;
        s->part = s->nsegment;
        return NULL;
    }
    if (r->t > s->last) s->last = r->t;
    return r;
}

bool log_is_ours(const char *file)
{
    static const char *const ours[] = { "ev.", "names.", "gpu.", "judge.", "threads." };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strncmp(file, ours[i], strlen(ours[i])) == 0) return true;
    return false;
}

void log_remove(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d) die_errno("%s", dir);
    for (const struct dirent *e; (e = readdir(d));)
        if (log_is_ours(e->d_name) && unlinkat(dirfd(d), e->d_name, 0) != 0) die_errno("%s/%s", dir, e->d_name);
    closedir(d);
}

struct log_spent log_spent(const char *dir)
{
    struct log_spent s = { 0 };
    DIR *d = opendir(dir);
    if (!d) die_errno("%s", dir);
    for (const struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        struct log_head h;
        uint64_t records;
        if (strncmp(e->d_name, "ev.", 3) != 0 || n < 4 || strcmp(e->d_name + n - 4, ".log") != 0) continue;
        char *path = xformat("%s/%s", dir, e->d_name);
        if (log_head_of(path, &h, &records)) {
            s.threads++;
            s.unclean += !h.clean;
            s.cpu_ns += (int64_t)(h.last.cpu_ns - h.first.cpu_ns - h.own_ns);
            for (int k = 0; k < HOOKS; k++) if (k != HOOK_NONE) s.begun += h.totals.begun[k];
        }
        free(path);
    }
    closedir(d);
    return s;
}
