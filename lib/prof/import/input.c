/* input.c - see input.h */
#include "prof/import/input.h"
#include "base/message.h"
#include "prof/charge.h"
#include "prof/import/logfiles.h"
#include "prof/import/logread.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 2 };
static pid_t step[STEPS];
static const char *folder;

bool input_is_folder(char **paths)
{
    struct stat st;
    return paths[0] && !paths[1] && stat(paths[0], &st) == 0 && S_ISDIR(st.st_mode);
}

void input_read(struct event_table *t, char **paths)
{
    if (!input_is_folder(paths)) {
        table_read(t, paths);
        return;
    }
    struct log_counts counts = { 0 };
    log_read(t, paths[0], true, &counts);
    if (counts.dropped)
        warn("%s: %llu records were lost while recording", paths[0], (unsigned long long)counts.dropped);
}

void input_charged(struct event_table *t, char **paths)
{
    struct rows out = { 0 };
    input_read(t, paths);
    if (!input_is_folder(paths)) return;
    held_charge(t, false, &out, &(struct repairs){ 0 });
    free(t->rows.v);
    t->rows = out;
    t->has_op = true;
}

/* the filter beside this one, its output goes to `out` */
static pid_t begin(const char *name, char *const command[], int out)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0) die_errno("/proc/self/exe");
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    char *path = xformat("%s/%s", self, name);
    pid_t child = fork();
    if (child < 0) die_errno("fork");
    if (child == 0) {
        dup2(out, STDOUT_FILENO);
        execv(path, command);
        execvp(name, command);
        die_errno("%s", path);
    }
    free(path);
    return child;
}

static int wait_for(pid_t child, const char *what)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) if (errno != EINTR) die_errno("%s", what);
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_USAGE;
}

/* its output is a pipe that becomes our standard input */
static pid_t filter(const char *name, char *const command[])
{
    int end[2];
    if (pipe2(end, O_CLOEXEC) != 0) die_errno("pipe");
    pid_t child = begin(name, command, end[1]);
    dup2(end[0], STDIN_FILENO);
    close(end[0]);
    close(end[1]);
    return child;
}

char *input_table(char *const command[])
{
    int out = memfd_create(command[0], MFD_CLOEXEC);
    if (out < 0) die_errno("%s", command[0]);
    if (wait_for(begin(command[0], command, out), command[0]) != EXIT_OK) {
        close(out);
        return NULL;
    }
    return xformat("/proc/self/fd/%d", out);
}

static void need_logs(const char *dir)
{
    DIR *d = opendir(dir);
    bool any = false;
    if (!d) die_errno("%s", dir);
    for (const struct dirent *e; (e = readdir(d));) any |= log_is_ours(e->d_name);
    closedir(d);
    if (!any) die("%s: no logs of the recorder here (prof-record -o %s PROGRAM makes them)", dir, dir);
}

char **input_stream(char **paths, bool nested)
{
    if (!input_is_folder(paths)) return paths;
    folder = paths[0];
    need_logs(folder);
    char whole[] = "--nested", calm[] = "--quiet", log_name[] = "prof-log", op_name[] = "prof-op", end[] = "--";
    char *log[] = { log_name, calm, nested ? whole : end, nested ? end : paths[0], nested ? paths[0] : NULL, NULL };
    char *op[] = { op_name, calm, NULL };
    step[0] = filter(log_name, log);
    step[1] = filter(op_name, op);
    return paths + 1;
}

void input_end(void)
{
    for (int i = 0; i < STEPS; i++) {
        if (!step[i]) continue;
        if (wait_for(step[i], folder) != EXIT_OK) die("%s: the logs there could not be read", folder);
        step[i] = 0;
    }
}
