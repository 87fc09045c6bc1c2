/* isolate.c - see isolate.h */
#include "inline/isolate.h"
#include "base/message.h"
#include "base/out.h"
#include "inline/tool.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct seen { uint64_t hash; size_t files; };

static uint64_t hash_file(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    uint64_t hash = 0;
    char block[65536];
    if (fd < 0) return 0;
    for (ssize_t n; (n = read(fd, block, sizeof block)) > 0;) hash = hash_bytes(block, (size_t)n, hash);
    close(fd);
    return hash;
}

static uint64_t hash_link(int at, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(at, name, target, sizeof target);
    return hash_bytes(target, n > 0 ? (size_t)n : 0, 0);
}

static int not_dots(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

/* the same file, link, device or folder (what is in that is another question) */
static bool same(int at, int before, const char *name, const struct stat *now)
{
    struct stat then;
    if (before < 0 || fstatat(before, name, &then, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (then.st_mode != now->st_mode) return false;
    if (S_ISREG(now->st_mode)) return then.st_size == now->st_size && hash_file(at, name) == hash_file(before, name);
    return !S_ISLNK(now->st_mode) || hash_link(at, name) == hash_link(before, name);
}

/* a sum: what was removed is found at another time in a copy than in an overlay */
static void note(struct seen *s, const char *path, uint64_t mode, uint64_t content)
{
    uint64_t all[] = { hash_bytes(path, strlen(path), 0), mode, content };
    s->hash += hash_bytes(all, sizeof all, 0);
    s->files++;
}

static int open_folder(int at, const char *name)
{
    return at < 0 && at != AT_FDCWD ? -1 : openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* All that differs between the folders; `before` -1: none.  Closes both. */
static void look(struct seen *s, int now, int before, const char *path, bool overlay)
{
    struct dirent **e;
    int n = now < 0 ? -1 : scandirat(now, ".", &e, not_dots, alphasort);
    for (int i = 0; i < n; i++) {
        struct stat st;
        char *name = e[i]->d_name, *below = xformat("%s/%s", path, name);
        if (fstatat(now, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            /* an overlay's removed file is a device 0:0 */
            if (overlay && S_ISCHR(st.st_mode) && st.st_rdev == 0) note(s, below, 0, 0);
            else if (!same(now, before, name, &st))
                note(s, below, st.st_mode,
                     S_ISREG(st.st_mode) ? hash_file(now, name) : S_ISLNK(st.st_mode) ? hash_link(now, name) : 0);
            if (S_ISDIR(st.st_mode)) look(s, open_folder(now, name), open_folder(before, name), below, overlay);
        }
        free(below);
        free(e[i]);
    }
    if (n >= 0) free(e);
    n = overlay || before < 0 ? -1 : scandirat(before, ".", &e, not_dots, alphasort);
    for (int i = 0; i < n; i++) {
        struct stat st;
        if (now < 0 || fstatat(now, e[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            char *below = xformat("%s/%s", path, e[i]->d_name);
            note(s, below, 0, 0);
            free(below);
        }
        free(e[i]);
    }
    if (n >= 0) free(e);
    if (now >= 0) close(now);
    if (before >= 0) close(before);
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write_all(fd, text, strlen(text));
    if (fd >= 0) close(fd);
    return done;
}

/* From here on this process has its own mounts and no network; false where that is not allowed. */
static bool apart(void)
{
    char *users = xformat("%u %u 1", geteuid(), geteuid()), *groups = xformat("%u %u 1", getegid(), getegid());
    bool done = geteuid() == 0 ? unshare(CLONE_NEWNS | CLONE_NEWNET) == 0
                               : unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) == 0 &&
                                     write_text("/proc/self/setgroups", "deny") &&
                                     write_text("/proc/self/uid_map", users) &&
                                     write_text("/proc/self/gid_map", groups);
    free(users);
    free(groups);
    return done && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool overlay(const char *directory, const char *scratch)
{
    char *plain = xformat("lowerdir=%s,upperdir=%s/changed,workdir=%s/work", directory, scratch, scratch);
    char *user = xformat("%s,userxattr", plain);
    bool done = !strpbrk(directory, ",:\\") && apart() &&
        (mount("overlay", directory, "overlay", 0, plain) == 0 || mount("overlay", directory, "overlay", 0, user) == 0);
    free(plain);
    free(user);
    return done;
}

static const char *tool(const char *const *words)
{
    struct args a = { 0 };
    for (; *words; words++) arg(&a, *words);
    return tool_run(&a, NULL, NULL, NULL);
}

static void remove_scratch(const char *scratch)
{
    tool((const char *[]){ "chmod", "-R", "u+rwx", scratch, NULL });
    const char *left = tool((const char *[]){ "rm", "-rf", scratch, NULL });
    if (left) warn("%s", left);
}

const char *isolate_begin(struct isolation *i, const char *directory, bool copy)
{
    const char *why = NULL;
    *i = (struct isolation){ .directory = directory, .real = directory, .scratch = out_scratch("run") };
    char *work = xformat("%s/work", i->scratch), *whole = xformat("%s/.", directory);
    i->changed = xformat("%s/changed", i->scratch);
    mkdir(i->changed, 0777);
    mkdir(work, 0777);
    i->overlaid = !copy && overlay(directory, i->scratch);
    if (!i->overlaid) {
        why = tool((const char *[]){ "cp", "-a", "--reflink=auto", whole, i->changed, NULL });
        i->directory = i->changed;
    }
    free_all(work, whole);
    if (!why) return NULL;
    remove_scratch(i->scratch);
    free_all(i->scratch, i->changed);
    return why;
}

void isolate_end(struct isolation *i, struct isolated *out)
{
    struct seen seen = { 0 };
    *out = (struct isolated){ .how = i->overlaid ? "overlay" : "copy" };
    if (i->overlaid && umount2(i->real, MNT_DETACH) != 0) out->why = strerror(errno);
    look(&seen, open_folder(AT_FDCWD, i->changed), open_folder(AT_FDCWD, i->real), "", i->overlaid);
    out->files = seen.files;
    out->files_hash = seen.hash;
    remove_scratch(i->scratch);
    free_all(i->scratch, i->changed);
}
