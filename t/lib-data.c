/* lib-data.c - tables of examples: which columns are features, classes by name, groups by appearance; given back. */
#include "dies.h"
#include "fit/data.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char table[] = "id,g,size,fast,a_x,a_y,class\n1,u,2.5,true,1,7,slow\n2,v,-1,false,2,8,fast\n"
                            "3,u,0,true,3,9,slow\n";
static char path[] = "/tmp/lib-data-XXXXXX";

static struct data of(const struct data_columns *c)
{
    char *paths[] = { path, NULL };
    return data_read(paths, c);
}

static void text_target(const void *unused)
{
    (void)unused;
    const char *size[] = { "size" };
    of(&(struct data_columns){ .target = "class", .features = { size, 1 } });
}

static void nothing_left(const void *unused)
{
    (void)unused;
    const char *all[] = { "*" };
    of(&(struct data_columns){ .ignore = { all, 1 } });
}

static bool has(const struct data *d, size_t n, const char *const *want)
{
    bool same = d->cols == n;
    for (size_t i = 0; same && i < n; i++) same = strcmp(d->feature[i], want[i]) == 0;
    return same;
}

int main(void)
{
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, table, sizeof table - 1) != (ssize_t)sizeof table - 1) return 99;
    close(fd);

    const char *ignored[] = { "id,a_?" };
    struct data d = of(&(struct data_columns){ .target = "class", .group = "g", .ignore = { ignored, 1 },
                                               .classes = true });
    ok(has(&d, 2, (const char *[]){ "size", "fast" }), "all but the target, the group and what is ignored");
    ok(d.rows == 3 && d.x[0] == 2.5 && d.x[1] == 1 && d.x[2] == -1 && d.x[3] == 0, "numbers; true is 1, false is 0");
    ok(d.nclass == 2 && !strcmp(d.class[0], "fast") && !strcmp(d.class[1], "slow"), "classes are ordered by name");
    ok(d.y[0] == 1 && d.y[1] == 0 && d.y[2] == 1, "and the rows keep theirs");
    ok(d.groups.n == 2 && d.group[0] == 0 && d.group[1] == 1 && d.group[2] == 0, "groups");
    ok(!strcmp(d.target, "class"), "the target's name");
    data_free(&d);
    ok(!d.rows && !d.x && !d.feature && !d.class && !d.target && !d.groups.n, "nothing is left of it");

    const char *wanted[] = { "a_*", "size" };
    d = of(&(struct data_columns){ .target = "size", .features = { wanted, 2 } });
    ok(has(&d, 2, (const char *[]){ "a_x", "a_y" }), "columns by pattern, but never the target");
    ok(d.nclass == 0 && d.y[0] == 2.5 && d.y[1] == -1 && d.group[2] == 0, "a target that is a number; no groups");
    data_free(&d);

    const char *rest[] = { "class,g" };
    d = of(&(struct data_columns){ .ignore = { rest, 1 } });
    ok(d.cols == 5 && d.y[1] == 0 && !strcmp(d.target, ""), "no target");
    data_free(&d);
    ok(dies(text_target, NULL, 1, "column 'class'"), "a target that is no number");
    ok(dies(nothing_left, NULL, 1, "no feature column"), "no feature");
    unlink(path);
    return done();
}
