/* launch.c - see launch.h */
#include "prof/launch.h"
#include <fcntl.h>
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
