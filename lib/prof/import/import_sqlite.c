/* import_sqlite.c - Nsight Systems' and nvprof's sqlite files; see import.h.  Table and column names are NVIDIA's. */
#include "prof/import/import.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/out.h"
#include "base/str.h"
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const int64_t TIME_MAX = (int64_t)1 << 61;

struct query {
    const char *table;                                   /* asked only if it is there */
    enum event_kind kind;
    const char *cat;
    /* start, end, pid, tid, link, name; for gpu: device, stream instead of tid */
    const char *sql;
};

/* The header tells how many pages there should be.  A page that is cut reads as zeros behind the cut, so that the last
 * row of it may be wrong. */
static void check_length(struct importer *m, const char *path)
{
    unsigned char h[100];
    struct stat st;
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(h, 1, sizeof h, f) : 0;
    bool regular = f && fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode);
    if (f) fclose(f);
    if (!regular) return;
    if (!n) die("%s: empty input", path);
    if (n < sizeof h) {
        m->fault = xformat("%s: the input ends at byte %zu, inside its header", path, n);
        m->truncated = true;
        return;
    }
    uint64_t size = (uint64_t)h[16] << 8 | h[17], pages = (uint64_t)h[28] << 24 | h[29] << 16 | h[30] << 8 | h[31];
    if (memcmp(h + 24, h + 92, 4) != 0) return;          /* an old writer, which did not count */
    if (size == 1) size = 65536;
    if ((uint64_t)st.st_size >= size * pages) return;
    bool whole = (uint64_t)st.st_size % size == 0;
    m->fault = xformat("%s: the input ends at byte %llu of %llu%s", path, (unsigned long long)st.st_size,
                       (unsigned long long)(size * pages), whole ? "" : ", one row there may be wrong");
    m->truncated = true;
}

/* The file is data: its views, triggers and virtual tables are never run.  Reads go to plain tables, nothing recurses,
 * and a query may take so many steps of the virtual machine for every byte of the file. */
enum { STEPS = 1000 };
static int64_t budget;

static int spent(void *unused)
{
    (void)unused;
    return --budget < 0;
}

static int allow(void *unused, int action, const char *a, const char *b, const char *c, const char *view)
{
    (void)unused, (void)a, (void)b, (void)c;
    return (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION) && !view ? SQLITE_OK
                                                                                                    : SQLITE_DENY;
}

static bool has_more(const char *path, const char *ending)
{
    struct stat st;
    char *more = xformat("%s%s", path, ending);
    bool there = stat(more, &st) == 0 && st.st_size > 0;
    free(more);
    return there;
}

static void copy_to(const char *folder, const char *path, const char *ending)
{
    static char b[1 << 16];
    char *from = xformat("%s%s", path, ending), *to = xformat("%s/copy%s", folder, ending);
    FILE *in = fopen(from, "re"), *out = fopen(to, "wxe");
    if (!in || !out) die_errno("%s", in ? to : from);
    for (size_t n; (n = fread(b, 1, sizeof b, in)) > 0;) if (fwrite(b, 1, n, out) != n) die_errno("%s", to);
    if (ferror(in)) die_errno("%s", from);
    if (fclose(out) != 0) die_errno("%s", to);
    fclose(in);
    free_all(from, to);
}

/* Reading alone makes sqlite put files beside a database that is written ahead (WAL); said to be immutable, it is only
 * read.  One that has such a file already, with rows that are nowhere else, is read as a copy. */
static sqlite3 *open_database(struct importer *m, const char *path)
{
    sqlite3 *db = NULL;
    struct buf uri = { 0 };
    char *folder = NULL;
    if (has_more(path, "-wal")) {
        folder = out_scratch("database");
        copy_to(folder, path, "");
        copy_to(folder, path, "-wal");
        buf_format(&uri, "file:%s/copy", folder);
    } else {
        buf_format(&uri, "file:");
        for (const unsigned char *p = (const unsigned char *)path; *p; p++) buf_format(&uri, "%%%02x", *p);
        if (!has_more(path, "-journal")) buf_format(&uri, "?immutable=1");
    }
    int status = sqlite3_open_v2(uri.s, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    free_all(uri.s, folder);                             /* the folder goes when the program ends */
    if (status != SQLITE_OK) {
        m->fault = xformat("%s: %s", path, db ? sqlite3_errmsg(db) : "out of memory");
        sqlite3_close(db);
        return NULL;
    }
    /* the schema of a foreign file is not to be trusted */
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* nothing is written, but only so does it read the pages that a truncated file still has */
    sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 26);
    struct stat st;
    budget = 1000000 + (stat(path, &st) == 0 ? 100 * st.st_size / STEPS : 0);
    sqlite3_progress_handler(db, STEPS, spent, NULL);
    check_length(m, path);
    sqlite3_exec(db, "PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0", NULL, NULL, NULL);
    sqlite3_set_authorizer(db, allow, NULL);
    return db;
}

static bool has_table(struct importer *m, sqlite3 *db, const char *path, const char *name)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1", -1, &s, NULL) !=
        SQLITE_OK) {
        if (!m->fault) m->fault = xformat("%s: %s", path, sqlite3_errmsg(db));
        return false;
    }
    sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    bool found = sqlite3_step(s) == SQLITE_ROW;
    sqlite3_finalize(s);
    return found;
}

static str column(sqlite3_stmt *s, int c)
{
    const char *p = (const char *)sqlite3_column_text(s, c);
    return p ? (str){ p, (size_t)sqlite3_column_bytes(s, c) } : (str){ "", 0 };
}

static str formatted(char b[48], const char *fmt, int64_t x, int64_t y)
{
    int n = strcmp(fmt, "gpu") == 0 ? snprintf(b, 48, "d%" PRId64 ".s%" PRId64, x, y) : snprintf(b, 48, "%" PRId64, x);
    return (str){ b, (size_t)n };
}

static void run(struct importer *m, sqlite3 *db, const char *path, const struct query *q, int64_t pid)
{
    sqlite3_stmt *s;
    if (!has_table(m, db, path, q->table)) return;
    if (sqlite3_prepare_v2(db, q->sql, -1, &s, NULL) != SQLITE_OK) {
        warn("%s: table %s: %s", path, q->table, sqlite3_errmsg(db));
        m->malformed++;
        return;
    }
    if (sqlite3_bind_parameter_count(s)) sqlite3_bind_int64(s, 1, pid);
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        char pid_text[48], tid[48], link[48];
        struct event e = { .kind = q->kind, .cat = str_of(q->cat), .start = sqlite3_column_int64(s, 0),
                           .end = sqlite3_column_int64(s, 1) };
        if (sqlite3_column_type(s, 0) != SQLITE_INTEGER || sqlite3_column_type(s, 1) != SQLITE_INTEGER ||
            e.start > TIME_MAX || e.end > TIME_MAX || e.start < -TIME_MAX || e.end < -TIME_MAX) {
            m->malformed++;
            continue;
        }
        e.proc = formatted(pid_text, "", sqlite3_column_int64(s, 2), 0);
        if (q->kind == EVENT_GPU) e.tid = formatted(tid, "gpu", sqlite3_column_int64(s, 3), sqlite3_column_int64(s, 4));
        else e.tid = formatted(tid, "", sqlite3_column_int64(s, 3), 0);
        if (sqlite3_column_type(s, 5) == SQLITE_INTEGER) e.link = formatted(link, "", sqlite3_column_int64(s, 5), 0);
        e.name = column(s, 6);
        if (e.kind == EVENT_GPU) e.cat = str_of(import_gpu_category(e.name));
        import_put(m, &e);
    }
    if (rc != SQLITE_DONE && !m->fault) {
        m->fault = xformat("%s: table %s: %s", path, q->table, sqlite3_errmsg(db));
        m->truncated = rc == SQLITE_CORRUPT;
    }
    sqlite3_finalize(s);
}

#define COPY_NAME                                                                                                      \
    "CASE copyKind WHEN 1 THEN 'HtoD' WHEN 2 THEN 'DtoH' WHEN 3 THEN 'HtoA' WHEN 4 THEN 'AtoH' WHEN 5 THEN 'AtoA' "    \
    "WHEN 6 THEN 'AtoD' WHEN 7 THEN 'DtoA' WHEN 8 THEN 'DtoD' WHEN 9 THEN 'HtoH' WHEN 10 THEN 'PtoP' ELSE copyKind "   \
    "END"

void import_nsys(struct importer *m, const char *path)
{
    static const struct query queries[] = {
        { "CUPTI_ACTIVITY_KIND_RUNTIME", EVENT_CAT, "CUDA",
          "SELECT r.start, r.end, (r.globalTid >> 24) & 0xffffff, r.globalTid & 0xffffff, 0,"
          " r.correlationId, s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r LEFT JOIN StringIds s ON s.id = r.nameId ORDER "
          "BY r.rowid" },
        { "CUPTI_ACTIVITY_KIND_KERNEL", EVENT_GPU, "GPU",
          "SELECT k.start, k.end, (k.globalPid >> 24) & 0xffffff, k.deviceId, k.streamId,"
          " k.correlationId, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds s ON s.id = k.shortName "
          "ORDER BY k.rowid" },
        { "CUPTI_ACTIVITY_KIND_MEMCPY", EVENT_GPU, "GPU",
          "SELECT start, end, (globalPid >> 24) & 0xffffff, deviceId, streamId, correlationId,"
          " 'memcpy ' || " COPY_NAME " FROM CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY rowid" },
        { "CUPTI_ACTIVITY_KIND_MEMSET", EVENT_GPU, "GPU",
          "SELECT start, end, (globalPid >> 24) & 0xffffff, deviceId, streamId, correlationId,"
          " 'memset' FROM CUPTI_ACTIVITY_KIND_MEMSET ORDER BY rowid" },
        { "NVTX_EVENTS", EVENT_OP, "",
          "SELECT n.start, n.end, (n.globalTid >> 24) & 0xffffff, n.globalTid & 0xffffff, 0, NULL,"
          " coalesce(n.text, s.value) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId"
          " WHERE n.end IS NOT NULL AND n.eventType IN (59, 60) ORDER BY n.rowid" },
        { "PROFILER_OVERHEAD", EVENT_OVH, "cupti",
          "SELECT o.start, o.end, (o.globalTid >> 24) & 0xffffff, o.globalTid & 0xffffff, 0, NULL, s.value"
          " FROM PROFILER_OVERHEAD o LEFT JOIN StringIds s ON s.id = o.nameId ORDER BY o.rowid" }
    };
    sqlite3 *db = open_database(m, path);
    if (!db) return;
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) run(m, db, path, &queries[i], 0);
    sqlite3_close(db);
}

static void import_nvprof_database(struct importer *m, const char *path)
{
    /* threadId may be negative: it is an unsigned number of 32 bits */
    static const struct query queries[] = {
        { "CUPTI_ACTIVITY_KIND_RUNTIME", EVENT_CAT, "CUDA",
          "SELECT start, end, processId, threadId & 0xffffffff, 0, correlationId,"
          " 'runtime cbid' || cbid FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY _id_" },
        { "CUPTI_ACTIVITY_KIND_DRIVER", EVENT_CAT, "CUDA",
          "SELECT start, end, processId, threadId & 0xffffffff, 0, correlationId,"
          " 'driver cbid' || cbid FROM CUPTI_ACTIVITY_KIND_DRIVER ORDER BY _id_" },
        { "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", EVENT_GPU, "GPU",
          "SELECT k.start, k.end, ?1, k.deviceId, k.streamId, k.correlationId, s.value"
          " FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL k LEFT JOIN StringTable s ON s._id_ = k.name ORDER BY k._id_" },
        { "CUPTI_ACTIVITY_KIND_KERNEL", EVENT_GPU, "GPU",
          "SELECT k.start, k.end, ?1, k.deviceId, k.streamId, k.correlationId, s.value"
          " FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringTable s ON s._id_ = k.name ORDER BY k._id_" },
        { "CUPTI_ACTIVITY_KIND_MEMCPY", EVENT_GPU, "GPU",
          "SELECT start, end, ?1, deviceId, streamId, correlationId, 'memcpy ' || " COPY_NAME
          " FROM CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY _id_" },
        { "CUPTI_ACTIVITY_KIND_MEMCPY2", EVENT_GPU, "GPU",
          "SELECT start, end, ?1, deviceId, streamId, correlationId, 'memcpy ' || " COPY_NAME
          " FROM CUPTI_ACTIVITY_KIND_MEMCPY2 ORDER BY _id_" },
        { "CUPTI_ACTIVITY_KIND_MEMSET", EVENT_GPU, "GPU",
          "SELECT start, end, ?1, deviceId, streamId, correlationId, 'memset'"
          " FROM CUPTI_ACTIVITY_KIND_MEMSET ORDER BY _id_" }
    };
    sqlite3 *db = open_database(m, path);
    if (!db) return;
    /* device rows lack it: nvprof writes a file for each process */
    int64_t pid = 0;
    sqlite3_stmt *s;
    for (int i = 0; i < 2; i++) {
        if (sqlite3_prepare_v2(db,
                               i ? "SELECT processId FROM CUPTI_ACTIVITY_KIND_DRIVER LIMIT 1"
                                 : "SELECT processId FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 1",
                               -1, &s, NULL) != SQLITE_OK)
            continue;
        if (sqlite3_step(s) == SQLITE_ROW) pid = sqlite3_column_int64(s, 0);
        sqlite3_finalize(s);
        if (pid) break;
    }
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) run(m, db, path, &queries[i], pid);
    sqlite3_close(db);
}

void import_nvprof(struct importer *m, const char *path)
{
    char magic[16] = "";
    FILE *f = strcmp(path, "-") == 0 ? NULL : fopen(path, "re");
    if (strcmp(path, "-") != 0 && !f) die_errno("%s", path);
    size_t n = f ? fread(magic, 1, sizeof magic, f) : 0;
    if (f) fclose(f);
    if (n == sizeof magic && memcmp(magic, "SQLite format 3", 16) == 0) {
        import_nvprof_database(m, path);
        return;
    }
    import_lines(m, FROM_NVPROF, path);
}
