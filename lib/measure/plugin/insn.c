/* insn.c - qemu-user plugin that counts executed guest instructions exactly, one addition per translated block.
 *
 * The result is appended as decimal text to the file given as out=PATH, by the process that was started only.  Threads
 * add to one counter without a lock, as inline operations of this plugin API do: exact for one thread.  Debian has no
 * package of the plugin header; the few declarations used here follow the public interface, version 1
 * (docs/devel/tcg-plugins of QEMU). */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_info;
enum { INLINE_ADD_U64 };
typedef void (*on_block)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*on_exit)(qemu_plugin_id_t, void *);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, on_block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, on_exit, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
int qemu_plugin_install(qemu_plugin_id_t, const struct qemu_info *, int argc, char **argv);

extern int qemu_plugin_version;
int qemu_plugin_version = 1;

static uint64_t count;
static const char *report;
static pid_t owner;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, INLINE_ADD_U64, &count, qemu_plugin_tb_n_insns(block));
}

static void ended(qemu_plugin_id_t id, void *unused)
{
    char text[32];
    (void)id;
    (void)unused;
    if (getpid() != owner) return;
    int n = snprintf(text, sizeof text, "%llu\n", (unsigned long long)count), fd = open(report, O_WRONLY | O_APPEND);
    if (fd < 0 || write(fd, text, (size_t)n) != n) _exit(126);
    close(fd);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) if (strncmp(argv[i], "out=", 4) == 0) report = strdup(argv[i] + 4);
    if (!report) return -1;
    owner = getpid();
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
