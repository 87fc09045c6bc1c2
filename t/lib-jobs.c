/* lib-jobs.c - lines of answers: the sum is right, but a name is none */
#include "measure/jobs.h"
#include "tap.h"
#include <stdio.h>
#include <stdlib.h>

static bool read_back(const char *job)
{
    struct answer a = { .job = str_of(job), .status = str_of("ok"), .machine = str_of("m"), .output = str_of("a,b\n"),
                        .task = 7, .seconds = 1 }, b;
    csvw *w = csvw_open("a.csv");
    answer_write(w, &a);
    csvw_close(w);
    char line[400];
    FILE *f = fopen("a.csv", "r");
    if (!f || !fgets(line, sizeof line, f)) return false;
    fclose(f);
    struct buf scratch = { 0 };
    bool good = answer_parse((str){ line, strlen(line) - 1 }, &b, &scratch) && str_is(b.output, "a,b\n");
    free(scratch.s);
    return good;
}

int main(void)
{
    ok(read_back("job-1"), "an answer is read as it was written");
    ok(!read_back("../a b"), "not one whose name is no file's name, whatever its sum");
    ok(!read_back("-f"), "nor an option's");
    remove("a.csv");
    return done();
}
