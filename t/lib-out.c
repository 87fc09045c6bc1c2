/* lib-out.c - output files are complete or absent: whatever happens in between. */
#include "base/filter.h"
#include "base/out.h"
#include "dies.h"
#include "tap.h"
#include "tree/sexp.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static char dir[] = "/tmp/lib-out.XXXXXX";

/* the test's own, which the archive is linked with: counts, and fails where it is told to */
static int synced[2], sync_fails = -1;                   /* files, folders */
int fsync(int fd)
{
    struct stat st;
    int folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    synced[folder]++;
    errno = EIO;
    return folder == sync_fails ? -1 : 0;
}

static const char *content(const char *name)
{
    static char b[256];
    FILE *f = fopen(name, "r");
    if (!f) return "(absent)";
    b[fread(b, 1, sizeof b - 1, f)] = 0;
    fclose(f);
    return b;
}

static int files(void)
{
    int n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d));) n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void write_and_exchange(const void *path)
{
    struct out *o = out_open(path);
    if (mkfifo(path, 0600) == 0) out_close(o);
    exit(0);
}

static void write_and_close(const void *path)
{
    struct out *o = out_open(path);
    fputs("new\n", out_file(o));
    out_close(o);
}

static void write_and_die(const void *path)
{
    fputs("half", out_file(out_open(path)));
    die("gave up");
}

static void write_and_signal(const void *number)
{
    fputs("half", out_file(out_open("x")));
    out_open("y");
    raise(*(const int *)number);
}

static void own_and_die(const void *unused)
{
    (void)unused;
    char *folder = out_own(".", "folder"), *file = xformat("%s/x", folder);
    mkdir(folder, 0777);
    fclose(fopen(file, "w"));
    fclose(fopen(out_own(".", "file"), "w"));
    out_own(".", "none");
    die("gave up");
}

static void scratch_and_signal(const void *number)
{
    char *folder = out_scratch("theirs"), *path = xformat("%s/x.c", folder);
    fclose(fopen(path, "w"));
    free(out_scratch_file("theirs"));
    raise(*(const int *)number);
}

static void write_and_fork(const void *unused)
{
    (void)unused;
    struct out *o = out_open("x");
    if (fork() == 0) exit(0);                            /* runs the exit handlers of its parent */
    int status;
    wait(&status);
    fputs("forked\n", out_file(o));
    out_close(o);
}

static void fill_disk(const void *unused)
{
    (void)unused;
    struct out *o = out_open("/dev/full");
    for (int i = 0; i < 100000; i++) fputs("line\n", out_file(o));
    out_close(o);
}

static void write_unsynced(const void *folder)
{
    sync_fails = *(const int *)folder;
    write_and_close("x");
}

/* what a killed process left that had our number: longer than what comes, or a link to something else */
static void write_over_left(const void *link)
{
    char *left = xformat(OUT_LEFT "%ld-%s-x", (long)getpid(), out_here());
    if (link ? symlink("other", left) != 0 : false) exit(98);
    if (!link) {
        FILE *f = fopen(left, "w");
        fputs("old and longer\n", f);
        fclose(f);
    }
    write_and_close("x");
}

/* a process that has ended, but that nobody has waited for */
static void sweep_of_zombie(const void *unused)
{
    (void)unused;
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    fclose(fopen(xformat(OUT_LEFT "%ld-%s-x", (long)pid, out_here()), "w"));
    out_sweep(".");
}

static void finish_full(const void *unused)
{
    (void)unused;
    if (dup2(open("/dev/full", O_WRONLY), 1) < 0) exit(99);
    puts("x");
    exit(finish());
}

static void close_full(const void *unused)
{
    (void)unused;
    if (dup2(open("/dev/full", O_WRONLY), 1) < 0) exit(99);
    sexpw *w = sexpw_open("-");
    sexpw_cstr(w, "x");
    exit(sexpw_close(w));
}

int main(void)
{
    static const int fatal[] = { SIGINT, SIGTERM, SIGHUP };
    for (int i = 0; i < 3; i++) signal(fatal[i], SIG_DFL);        /* nohup and & have them ignored */
    if (!mkdtemp(dir) || chdir(dir) != 0) return 99;
    ok(run_child(write_and_close, "x") == 0 && strcmp(content("x"), "new\n") == 0 && files() == 1,
       "a closed file is there, alone");
    FILE *f = fopen("x", "w");
    fputs("old\n", f);
    fclose(f);
    struct out *o = out_open("x");
    fputs("new\n", out_file(o));
    fflush(out_file(o));
    ok(strcmp(content("x"), "old\n") == 0, "until then the old one stays");
    ok(files() == 2, "the new one is written beside it");
    out_close(o);
    ok(strcmp(content("x"), "new\n") == 0 && files() == 1, "closing replaces it");
    ok(dies(write_and_die, "y", 1, "gave up") && files() == 1, "nothing is left when the program dies");
    ok(dies(write_and_die, "x", 1, "gave up") && strcmp(content("x"), "new\n") == 0 && files() == 1,
       "and what was there stays");
    for (int i = 0; i < 3; i++)
        ok(run_child(write_and_signal, &fatal[i]) == 256 + fatal[i] && files() == 1,
           "nothing is left after INT, TERM, HUP; the signal shows");
    static const int kill = SIGKILL;
    ok(run_child(write_and_signal, &kill) == 256 + SIGKILL && strcmp(content("x"), "new\n") == 0,
       "SIGKILL leaves the old file whole");
    ok(files() > 1, "and what it had begun");
    out_sweep(".");
    ok(files() == 1, "which out_sweep removes");
    char *living = xformat(".millrace-1-%s-x", out_here()), *gone = xformat(".millrace-4194303-%s-link", out_here());
    fclose(fopen(living, "w"));
    fclose(fopen(".millrace-4194303-00000000-x", "w"));  /* of another host */
    fclose(fopen("report.4194303.new", "w"));
    fclose(fopen(".millrace-notes", "w"));
    out_sweep(".");
    ok(files() == 5, "but not what belongs to a living process, to another host, or what a user may have called so");
    unlink(living);
    unlink(".millrace-4194303-00000000-x");
    unlink("report.4194303.new");
    unlink(".millrace-notes");
    out_sweep("no/such/folder");
    ok(run_child(sweep_of_zombie, NULL) == 0 && files() == 1, "what a process left that is dead, not waited for, goes");
    ok(run_child(write_over_left, NULL) == 0 && strcmp(content("x"), "new\n") == 0 && files() == 1,
       "what is left under our own number is not written into");
    ok(run_child(write_over_left, "link") == 0 && strcmp(content("x"), "new\n") == 0 && files() == 1,
       "nor what a link there points to");
    synced[0] = synced[1] = 0;
    write_and_close("x");
    ok(synced[0] == 1 && synced[1] == 1, "a file and its name are on the disk before anything builds on it");
    static const int file = 0, folder = 1;
    ok(dies(write_unsynced, &file, 1, "sync x: Input/output error") && files() == 1, "a disk that fails is said");
    ok(dies(write_unsynced, &folder, 1, "sync .: Input/output error"), "and where the name is not on it");
    setenv("TMPDIR", ".", 1);
    ok(dies(own_and_die, NULL, 1, "gave up") && files() == 1, "what a process called its own goes when it dies");
    symlink(".", gone);
    ok(run_child(scratch_and_signal, &kill) == 256 + SIGKILL && files() == 3,
       "a folder and a file of its own are left when it is killed; a link is removed, not followed");
    char *scratch = out_scratch("mine");
    struct stat st;
    ok(stat(scratch, &st) == 0 && (st.st_mode & 0777) == 0700 && files() == 2, "the next removes it");
    out_sweep(".");
    ok(files() == 2 && rmdir(scratch) == 0, "what is in use stays");
    free(scratch);
    char *even = out_scratch_even("run");
    const char *number = even + strlen("/tmp/" OUT_LEFT);
    ok(strncmp(even, "/tmp/" OUT_LEFT, strlen("/tmp/" OUT_LEFT)) == 0 && strspn(number, "0123456789") == 10 &&
       strtol(number, NULL, 10) == getpid() && strlen(number) == 10 + strlen("-01234567-run-XXXXXX"),
       "one whose path is as long in every process lies in /tmp");
    ok(stat(even, &st) == 0 && (st.st_mode & 0777) == 0700 && rmdir(even) == 0, "is its owner's alone, and empty");
    free(even);
    unsetenv("TMPDIR");
    ok(run_child(write_and_fork, NULL) == 0 && strcmp(content("x"), "forked\n") == 0,
       "a forked child does not remove its parent's file");
    ok(dies(write_and_close, "no/such/dir", 1, "no/such/dir: No such file"), "a directory that is not there");
    ok(dies(write_and_close, ".", 1, ".: Is a directory"), "a directory as output");
    /* one of our own: a mistake in this is not to take everybody's away */
    const char *device = mknod("null", S_IFCHR | 0666, makedev(1, 3)) == 0 ? "null" : "/dev/null";
    int before = files();
    ok(run_child(write_and_close, device) == 0 && stat(device, &st) == 0 && S_ISCHR(st.st_mode) && files() == before,
       "a device is written in place");
    ok(!out_may_replace(device) && !out_may_replace(".") && out_may_replace("absent") && out_may_replace("s"),
       "and not replaced");
    ok(dies(write_and_exchange, "exchanged", 1, "is no file any more"), "nor what has become one");
    unlink("null");
    unlink("exchanged");
    /* in memory is no device: the longer file that was there does not show behind the new one */
    char *shm = xformat("/dev/shm/lib-out-%ld", (long)getpid());
    if ((f = fopen(shm, "w"))) {
        fputs("old and longer\n", f);
        fclose(f);
        ok(run_child(write_and_close, shm) == 0 && strcmp(content(shm), "new\n") == 0, "/dev/shm is a folder");
        unlink(shm);
    } else ok(true, "/dev/shm is a folder # skip there is none");
    int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0666);
    char *name = xformat("/dev/fd/%d", log);
    ok(write(log, "old\n", 4) == 4 && run_child(write_and_close, name) == 0 &&
       strcmp(content("log"), "old\nnew\n") == 0, "a descriptor is written to where it stands");
    ok(dies(write_and_close, "/dev/fd/77", 1, "/dev/fd/77: Bad file descriptor"), "one that is not open");
    free_all(shm, name);
    close(log);
    unlink("log");
    ok(dies(fill_disk, NULL, 1, "No space left"), "a full disk is noticed");
    ok(dies(finish_full, NULL, 1, "No space left"), "finish() notices that stdout did not get out");
    ok(dies(close_full, NULL, 1, "No space left"), "sexpw_close notices it too");
    sexpw *w = sexpw_open("s");
    sexpw_pair(w, "a", 1);
    ok(strcmp(content("s"), "(absent)") == 0, "an s-expression file is absent until it is closed");
    ok(sexpw_close(w) == 0 && strcmp(content("s"), "(a 1)\n") == 0, "and then complete");
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlink(e->d_name);
    closedir(d);
    rmdir(dir);
    return done();
}
