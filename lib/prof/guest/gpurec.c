/* gpurec.c - CUPTI injection: with CUDA_INJECTION64_PATH=.../libmillrace-gpu.so the CUDA driver loads this into any
 * program and calls InitializeInjection; kernels, copies, API calls and CUPTI's own overhead go as rows of the events
 * table to $MILLRACE_PROF_DIR/gpu.PID.csv.  CUPTI is made to take its time stamps from CLOCK_MONOTONIC, the recorder's
 * clock, so nothing has to be mapped.  Built where cupti.h is; structures are those of CUDA 13, and CUPTI fills at
 * least those of its own version. Without a driver every call fails and the program runs on unharmed.  A buffer that
 * CUPTI dropped is a row of kind ovh.
 *
 * No descriptor is kept: a program that closes all of its own, and opens a file, would get our rows into it.  The file
 * is opened by its path for every block of rows, and has to be the one that was made. */
#include <cupti.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 20 };
static char path[4096];
static dev_t on_device;                                  /* of our file, and its inode */
static ino_t inode;
static char text[1 << 16];                               /* rows not yet written */
static size_t length;
static uint64_t lost;                                    /* rows that could not be written */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int InitializeInjection(void) __attribute__((visibility("default")));

static uint64_t CUPTIAPI monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int open_ours(int flags)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (fd < 0) return -1;
    if (fstat(fd, &st) == 0 && (flags || (st.st_dev == on_device && st.st_ino == inode))) {
        on_device = st.st_dev;
        inode = st.st_ino;
        return fd;
    }
    close(fd);
    return -1;
}

static void flush(void)
{
    int out = length ? open_ours(0) : -1;
    for (size_t done = 0; done < length;) {
        ssize_t n = out < 0 ? -1 : write(out, text + done, length - done);
        if (n <= 0) {
            lost++;
            break;
        }
        done += (size_t)n;
    }
    if (out >= 0) close(out);
    length = 0;
}

/* names may hold commas and quotes: templates do */
static void row(const char *tid, const char *kind, const char *cat, uint64_t start, uint64_t end, const char *name,
                uint32_t link)
{
    if (sizeof text - length < 4096) flush();
    length += (size_t)snprintf(text + length, 512, "%d,%s,%s,%s,%" PRIu64 ",%" PRIu64 ",\"", (int)getpid(), tid, kind,
                               cat, start, end);
    for (size_t k = 0; name && name[k] && k < 1500; k++) {
        if (name[k] == '"') text[length++] = '"';
        text[length++] = name[k];
    }
    length += (size_t)snprintf(text + length, 32, "\",%u,\n", link);
}

static void device_row(uint32_t device, uint32_t stream, uint64_t start, uint64_t end, const char *name, uint32_t link)
{
    char tid[48];
    snprintf(tid, sizeof tid, "d%u.s%u", device, stream);
    row(tid, "gpu", "GPU", start, end, name, link);
}

static void one_record(CUpti_Activity *r)
{
    static const char *const direction[] = { "",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                             "AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };
    char name[64], tid[24];
    switch (r->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const CUpti_ActivityKernel10 *k = (const void *)r;
        device_row(k->deviceId, k->streamId, k->start, k->end, k->name, k->correlationId);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const CUpti_ActivityMemcpy6 *c = (const void *)r;
        snprintf(name, sizeof name, "memcpy %s",
                 c->copyKind < sizeof direction / sizeof *direction ? direction[c->copyKind] : "");
        device_row(c->deviceId, c->streamId, c->start, c->end, name, c->correlationId);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const CUpti_ActivityMemset4 *s = (const void *)r;
        device_row(s->deviceId, s->streamId, s->start, s->end, "memset", s->correlationId);
        break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
        const CUpti_ActivityAPI *a = (const void *)r;
        const char *call = "";
        cuptiGetCallbackName(r->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API
                                                                    : CUPTI_CB_DOMAIN_DRIVER_API,
                             a->cbid, &call);
        snprintf(tid, sizeof tid, "%u", a->threadId);
        row(tid, "cat", "CUDA", a->start, a->end, call, a->correlationId);
        break;
    }
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
        const CUpti_ActivityOverhead3 *o = (const void *)r;
        snprintf(tid, sizeof tid, "%u", o->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? o->objectId.pt.threadId : 0);
        row(tid, "ovh", "cupti", o->start, o->end, "", o->correlationId);
        break;
    }
    default:
        break;
    }
}

static void CUPTIAPI want_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
    *buffer = aligned_alloc(8, BUFFER);
    *size = *buffer ? BUFFER : 0;
    *records = 0;
}

static void CUPTIAPI have_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *r = NULL;
    size_t dropped = 0;
    (void)size;
    pthread_mutex_lock(&lock);
    while (cuptiActivityGetNextRecord(buffer, valid, &r) == CUPTI_SUCCESS) one_record(r);
    cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
    if (dropped) {
        char count[32];
        uint64_t now = monotonic();
        snprintf(count, sizeof count, "%zu", dropped);
        row("", "ovh", "dropped", now, now, count, 0);
    }
    flush();
    pthread_mutex_unlock(&lock);
    free(buffer);
}

static void at_end(void)
{
    cuptiActivityFlushAll(1);
    if (lost)
        fprintf(stderr, "millrace recorder: GPU rows could not be written, %llu blocks lost\n",
                (unsigned long long)lost);
}

int InitializeInjection(void)
{
    static const char header[] = "proc,tid,kind,cat,start_ns,end_ns,name,link,flag\n";
    static const CUpti_ActivityKind kinds[] = { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                                CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME,
                                                CUPTI_ACTIVITY_KIND_OVERHEAD };
    const char *dir = getenv("MILLRACE_PROF_DIR");
    if (!dir || snprintf(path, sizeof path, "%s/gpu.%d.csv", dir, (int)getpid()) >= (int)sizeof path) return 1;
    if (cuptiActivityRegisterTimestampCallback(monotonic) != CUPTI_SUCCESS
        || cuptiActivityRegisterCallbacks(want_buffer, have_buffer) != CUPTI_SUCCESS) {
        fprintf(stderr, "millrace recorder: CUPTI cannot be used here, no GPU rows\n");
        return 1;
    }
    cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);      /* the ids of the recorder's other rows */
    int out = open_ours(O_CREAT | O_TRUNC);
    if (out < 0 || write(out, header, sizeof header - 1) < 0) {
        perror(path);
        return 1;
    }
    close(out);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) cuptiActivityEnable(kinds[i]);
    cuptiActivityFlushPeriod(200);
    atexit(at_end);
    return 1;
}
