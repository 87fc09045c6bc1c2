/* launch.c - see launch.h */
#include "prof/launch.h"
#include "base/message.h"
#include "measure/count.h"
#include "prof/import/logfiles.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_value(const char *a, const struct opt *options)
{
    size_t n = strcspn(a, "=");
    if (a[n] || (a[1] != '-' && a[1] && a[2])) return false;   /* --name=value, -ovalue */
    for (const struct opt *o = options; o->name; o++)
        if (a[1] == '-' ? strcmp(o->name, a + 2) == 0 : o->c == a[1]) return o->type != FLAG;
    return false;
}

int launch_python_option(int argc, char **argv, const struct opt *options)
{
    for (int i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "-m") == 0 || strcmp(argv[i], "-c") == 0) return i;
        if (strcmp(argv[i], "--") == 0) return i + 1 < argc && argv[i + 1][0] == '-' ? i + 1 : argc;
        i += has_value(argv[i], options);
    }
    return argc;
}

void launch_refuse_isolated(char *const *command)
{
    const char *slash = strrchr(command[0], '/'), *name = slash ? slash + 1 : command[0];
    if (strncmp(name, "python", 6) != 0) return;
    for (char *const *a = command + 1; *a && a[0][0] == '-' && a[0][1] && a[0][1] != '-'; a++) {
        for (const char *c = *a + 1; *c; c++) {
            if (strchr("cm", *c)) return;
            if (strchr("IES", *c)) die("%s -%c: does not look for the recorder, nothing would be recorded", name, *c);
            if (!strchr("WX", *c)) continue;             /* its argument follows */
            if (!c[1] && a[1]) a++;
            break;
        }
    }
}

bool launch_is_script(const char *path)
{
    size_t n = strlen(path);
    if (n > 3 && strcmp(path + n - 3, ".py") == 0) return true;
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    char line[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, line, sizeof line - 1);
    close(fd);
    if (got < 0 || memchr(line, '\0', (size_t)got)) return false;
    line[got] = '\0';
    line[strcspn(line, "\n")] = '\0';
    bool python = strncmp(line, "#!", 2) == 0 && strstr(line, "python");
    bool runs = access(path, X_OK) == 0;
    return runs ? python && !strchr(path, '/') : python || strncmp(line, "#!", 2) != 0;
}

#ifndef PYTHON
#define PYTHON "/usr/bin/python3"
#endif

/* what a script's first line names, by its path */
static char *of_shebang(const char *script)
{
    char line[256] = "";
    int fd = open(script, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (fd >= 0) close(fd);
    if (got < 3 || line[0] != '#' || line[1] != '!') return NULL;
    char *path = line + 2 + strspn(line + 2, " ");
    path[strcspn(path, " \r\n")] = '\0';
    return strstr(path, "python") && access(path, X_OK) == 0 ? xstrdup(path) : NULL;
}

static char *of_environment(const char *name)
{
    const char *folder = getenv(name);
    char *path = folder && *folder ? xformat("%s/bin/python3", folder) : NULL;
    return path && access(path, X_OK) == 0 ? path : NULL;
}

const char *launch_python(const char *script)
{
    char *path = script ? of_shebang(script) : NULL;
    if (!path) path = of_environment("VIRTUAL_ENV");
    if (!path) path = of_environment("CONDA_PREFIX");
    if (!path) path = program_path("python3");
    if (!path) return PYTHON;
    if (strcmp(path, PYTHON) != 0 && !quiet) warn("the Python of this run is %s", path);
    return path;
}

/* logs of two runs in one directory would be taken for one */
static void clear_logs(const char *out, bool force)
{
    DIR *d = opendir(out);
    if (!d) die_errno("%s", out);
    for (struct dirent *e; (e = readdir(d));)
        if (!force && log_is_ours(e->d_name))
            die("%s holds the logs of an earlier run; --force removes them", out);
    closedir(d);
    log_remove(out);
}

static void make_directory(const char *out)
{
    char *path = xstrdup(out);
    for (char *p = path + 1;; p++) {
        if (*p && *p != '/') continue;
        char c = *p;
        *p = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) die_errno("%s", path);
        *p = c;
        if (!c) break;
    }
    free(path);
}

char *launch_directory(const char *out, bool force)
{
    make_directory(out);
    clear_logs(out, force);
    char *dir = realpath(out, NULL);
    if (!dir) die_errno("%s", out);
    return dir;
}

char *launch_library(const char *file, bool need)
{
    static const char *const places[] = { "../lib/millrace", "../build/prof", "../prof" };
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0) die_errno("/proc/self/exe");
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = xformat("%s/%s/%s", self, places[i], file);
        if (access(path, R_OK) == 0) return path;
        free(path);
    }
    if (need) die("%s is not there; was it built (python3-dev, cupti.h)?", file);
    return NULL;
}

void launch_add_path(const char *name, const char *value, bool first)
{
    const char *old = getenv(name);
    char *both = !old || !*old ? xstrdup(value) : first ? xformat("%s:%s", value, old) : xformat("%s:%s", old, value);
    if (setenv(name, both, 1) != 0) die_errno("%s", name);
    free(both);
}

void launch_set_number(const char *name, double v)
{
    char b[40];
    snprintf(b, sizeof b, "%.9g", v);
    if (v > 0 ? setenv(name, b, 1) != 0 : unsetenv(name) != 0) die_errno("%s", name);
}

double launch_filters(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char *line = NULL;
    size_t room = 0;
    double n = 0;
    while (f && text_line(f, "/proc/self/status", &line, &room) >= 0)
        if (strncmp(line, "Seccomp_filters:", 16) == 0) n = strtod(line + 16, NULL);
    if (f) fclose(f);
    free(line);
    return n;
}
