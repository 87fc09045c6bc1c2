/* emit_gpu.c - the sqlite file of nvprof -o, and a GPU's clock; see emit.h.  Table and column names are NVIDIA's. */
#include "base/filter.h"
#include "base/num.h"
#include "base/out.h"
#include "prof/emit.h"
#include "tree/json.h"
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static const char schema[] =
    "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT);"
    "CREATE TABLE Version (version INTEGER);"
    "INSERT INTO Version VALUES (11);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, cbid INTEGER, start INTEGER,"
    " end INTEGER, processId INTEGER, threadId INTEGER, correlationId INTEGER, returnValue INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, cbid INTEGER, start INTEGER,"
    " end INTEGER, processId INTEGER, threadId INTEGER, correlationId INTEGER, returnValue INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, start INTEGER,"
    " end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, name INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, copyKind INTEGER, start INTEGER,"
    " end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, start INTEGER, end INTEGER,"
    " deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER);";

enum { RUNTIME, DRIVER, KERNEL, COPY, SET, TABLES };
#define API(T) "INSERT INTO CUPTI_ACTIVITY_KIND_" T " VALUES (NULL, ?7, ?1, ?2, ?3, ?4, ?6, 0)"
static const char *const insert[TABLES] = {
    API("RUNTIME"), API("DRIVER"),
    "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (NULL, ?1, ?2, ?4, 1, ?5, ?6, ?7)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (NULL, ?7, ?1, ?2, ?4, 1, ?5, ?6)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (NULL, ?1, ?2, ?4, 1, ?5, ?6)"
};

/* copyKind is the place, from 1 */
static const char *const copies[] = { "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };

struct database { sqlite3 *db; sqlite3_stmt *stmt[TABLES], *string; struct intern strings; uint64_t unnumbered; };

static void need(const struct database *d, bool good)
{
    if (!good) die("nvprof's tables: %s", sqlite3_errmsg(d->db));
}

static int64_t number(str s)
{
    int64_t v;
    return int_parse(s.s, s.n, &v) ? v : 0;
}

static bool begins(str s, const char *with, int64_t *rest)
{
    size_t n = strlen(with);
    return str_begins(s, with) && int_parse(s.s + n, s.n - n, rest);
}

static int64_t string_id(struct database *d, str s)
{
    size_t known = d->strings.n;
    uint32_t i = intern(&d->strings, s);
    if (d->strings.n > known) {
        sqlite3_bind_text(d->string, 1, s.s, (int)s.n, SQLITE_TRANSIENT);
        need(d, sqlite3_step(d->string) == SQLITE_DONE && sqlite3_reset(d->string) == SQLITE_OK);
    }
    return (int64_t)i + 1;
}

/* which table, and what its ?7 is */
static int table_for(struct database *d, const struct row *r, str name, int64_t *what)
{
    if (r->kind == EVENT_CAT) {
        if (begins(name, "driver cbid", what)) return DRIVER;
        if (begins(name, "runtime cbid", what)) return RUNTIME;
        *what = 0;                                       /* numbers of names are in CUPTI's headers alone */
        d->unnumbered++;
        return RUNTIME;
    }
    if (str_is(name, "memset")) return SET;
    for (size_t k = 0; k < sizeof copies / sizeof *copies; k++)
        if (name.n == 11 && memcmp(name.s, "memcpy ", 7) == 0 && memcmp(name.s + 7, copies[k], 4) == 0) {
            *what = (int64_t)k + 1;
            return COPY;
        }
    *what = string_id(d, name);
    return KERNEL;
}

static void put_row(struct database *d, const struct event_table *t, const struct row *r)
{
    const str *text = t->text.name;
    int64_t what = 0, device = 0, stream = 0;
    int k = table_for(d, r, text[r->name], &what);
    str tid = text[r->tid];
    const char *dot = tid.n ? memchr(tid.s, '.', tid.n) : NULL;
    if (k < KERNEL) device = (int32_t)number(tid);       /* threads are signed numbers of 32 bits there */
    else if (dot && begins((str){ tid.s, (size_t)(dot - tid.s) }, "d", &device))
        begins((str){ dot, (size_t)(tid.s + tid.n - dot) }, ".s", &stream);
    const int64_t v[] = { r->start, r->end, number(text[r->proc]), device, stream, number(text[r->link]), what };
    sqlite3_stmt *s = d->stmt[k];
    for (int i = 0; i < sqlite3_bind_parameter_count(s); i++) need(d, sqlite3_bind_int64(s, i + 1, v[i]) == SQLITE_OK);
    need(d, sqlite3_step(s) == SQLITE_DONE && sqlite3_reset(s) == SQLITE_OK);
}

void emit_nvprof(struct event_table *t, const char *path)
{
    struct database d = { 0 };
    uint32_t cuda = intern(&t->text, str_of("CUDA")), proc = UINT32_MAX;
    need(&d, sqlite3_open(":memory:", &d.db) == SQLITE_OK);
    need(&d, sqlite3_exec(d.db, "BEGIN;", NULL, NULL, NULL) == SQLITE_OK);
    need(&d, sqlite3_exec(d.db, schema, NULL, NULL, NULL) == SQLITE_OK);
    for (int k = 0; k < TABLES; k++)
        need(&d, sqlite3_prepare_v2(d.db, insert[k], -1, &d.stmt[k], NULL) == SQLITE_OK);
    need(&d, sqlite3_prepare_v2(d.db, "INSERT INTO StringTable VALUES (NULL, ?1)", -1, &d.string, NULL) == SQLITE_OK);
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *r = &t->rows.v[i];
        if (r->kind != EVENT_GPU && (r->kind != EVENT_CAT || r->cat != cuda)) continue;
        str a = t->text.name[r->proc], b = proc == UINT32_MAX ? a : t->text.name[proc];
        if (!str_eq(a, b))
            die("CUDA calls of two processes, %.*s and %.*s: nvprof has a file for each (csv-where -c proc --is=..)",
                (int)b.n, b.s, (int)a.n, a.s);
        proc = r->proc;
        put_row(&d, t, r);
    }
    for (int k = 0; k < TABLES; k++) sqlite3_finalize(d.stmt[k]);
    sqlite3_finalize(d.string);
    need(&d, sqlite3_exec(d.db, "COMMIT;", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_int64 n = 0;
    unsigned char *bytes = sqlite3_serialize(d.db, "main", &n, 0);
    need(&d, bytes != NULL);
    struct out *out = out_open(path);
    fwrite(bytes, 1, (size_t)n, out_file(out));
    out_close(out);
    sqlite3_free(bytes);
    sqlite3_close(d.db);
    intern_free(&d.strings);
    if (d.unnumbered && !quiet)
        warn("%llu CUDA calls by name: their number is not known here, cbid 0", (unsigned long long)d.unnumbered);
}

void emit_clock(const char *path)
{
    enum { CLOCK_RATE = 13 };                            /* of CUdevice_attribute; kHz */
    int (*init)(unsigned), (*attribute)(int *, int, int), khz = 0;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *f = cuda ? dlsym(cuda, "cuInit") : NULL;
    void *g = cuda ? dlsym(cuda, "cuDeviceGetAttribute") : NULL;
    if (!f || !g) die("no GPU can be asked here: libcuda.so.1 is not there");
    memcpy(&init, &f, sizeof init);
    memcpy(&attribute, &g, sizeof attribute);
    int error = init(0);
    if (!error) error = attribute(&khz, CLOCK_RATE, 0);  /* devices of the driver are numbers from 0 */
    if (error || khz <= 0) die("the CUDA driver says no clock: error %d", error);
    jsonw *w = jsonw_open(path);
    jsonw_begin(w, '{');
    jsonw_key(w, "gpu_mhz");                             /* its name there, though it holds cycles a second */
    jsonw_num(w, 1e3 * khz);
    jsonw_end(w);
    jsonw_close(w);
}
