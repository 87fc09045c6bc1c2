/* insn.c - qemu-user plugin that counts executed guest instructions exactly, one addition per translated block.
 *
 * The result is appended as decimal text to the file given as out=PATH, by the process that was started only; with
 * blocks=on, lines `address count` come before it: instructions executed in the blocks that begin there.  Threads
 * add to one counter without a lock, as inline operations of this plugin API do: exact for one thread.  Debian has no
 * package of the plugin header; the few declarations used here follow the public interface, version 1
 * (docs/devel/tcg-plugins of QEMU). */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_info;
enum { INLINE_ADD_U64 };
typedef void (*on_block)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*at_end)(qemu_plugin_id_t, void *);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, on_block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, at_end, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
int qemu_plugin_install(qemu_plugin_id_t, const struct qemu_info *, int argc, char **argv);

extern int qemu_plugin_version;
int qemu_plugin_version = 1;

static uint64_t count;
static const char *report;
static pid_t owner;

/* one counter for each block, by address; the counters stay where they are, for translated code points at them */
enum { BUCKETS = 1 << 16 };
struct counter { uint64_t address, n; struct counter *next; };
static struct counter *bucket[BUCKETS];
static int by_block;

static struct counter *counter_of(uint64_t address)
{
    struct counter **at = &bucket[(address ^ address >> 16) % BUCKETS];
    for (struct counter *c = *at; c; c = c->next) if (c->address == address) return c;
    struct counter *c = calloc(1, sizeof *c);
    if (!c) _exit(126);
    c->address = address;
    c->next = *at;
    return *at = c;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    size_t n = qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_inline(block, INLINE_ADD_U64, &count, n);
    if (by_block)
        qemu_plugin_register_vcpu_tb_exec_inline(block, INLINE_ADD_U64, &counter_of(qemu_plugin_tb_vaddr(block))->n, n);
}

static void ended(qemu_plugin_id_t id, void *unused)
{
    char text[32];
    (void)id;
    (void)unused;
    if (getpid() != owner) return;
    FILE *f = by_block ? fopen(report, "ae") : NULL;
    for (size_t i = 0; f && i < BUCKETS; i++)
        for (const struct counter *c = bucket[i]; c; c = c->next)
            fprintf(f, "%llu %llu\n", (unsigned long long)c->address, (unsigned long long)c->n);
    if (by_block && (!f || fclose(f) != 0)) _exit(126);
    int n = snprintf(text, sizeof text, "%llu\n", (unsigned long long)count), fd = open(report, O_WRONLY | O_APPEND);
    if (fd < 0 || write(fd, text, (size_t)n) != n) _exit(126);
    close(fd);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "out=", 4) == 0) report = strdup(argv[i] + 4);
        else if (strcmp(argv[i], "blocks=on") == 0) by_block = 1;
    if (!report) return -1;
    owner = getpid();
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
