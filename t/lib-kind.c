/* lib-kind.c - how numbers were obtained: the vocabulary, and that nothing becomes real on the way. */
#include "dies.h"
#include "table/kind.h"
#include "tap.h"
#include <unistd.h>

static unsigned of_text(const char *text)
{
    int p[2];
    if (pipe(p) != 0 || write(p[1], text, strlen(text)) < 0) return 0;
    close(p[1]);
    csv *t = csv_open_fd(p[0], "table");
    unsigned k = 0;
    int col = csv_find(t, "kind");
    while (csv_next(t)) k |= kind_of_row(t, col);
    csv_close(t);
    close(p[0]);
    return k;
}

static void read_text(const void *text)
{
    of_text(text);
}

int main(void)
{
    bool there_and_back = true, never = true;
    for (unsigned k = 1; k < 16; k++) {
        there_and_back &= kind_parse(str_of(kind_name(k))) == k;
        for (unsigned j = 0; j < 16; j++) never &= strcmp(kind_name(k | j | KIND_SIMULATED), "real") != 0;
    }
    ok(there_and_back, "every set of kinds is read back from its name");
    ok(never, "simulated with whatever is never real");
    ok(strcmp(kind_name(KIND_REAL | KIND_SIMULATED), "real+simulated") == 0, "a mixture is named, the weakest last");
    ok(strcmp(kind_name(KIND_REAL | KIND_NOT_KNOWN), "") == 0, "what is partly not known is not known");
    ok(kind_parse(str_of("model")) == KIND_SIMULATED, "the word of older tables");
    ok(!kind_parse(str_of("Real")) && !kind_parse(str_of("real+")) && !kind_parse(str_of("+real")) &&
       !kind_parse(str_of("real,simulated")), "no other word");
    ok(of_text("a,kind\n1,real\n2,real\n") == KIND_REAL, "a table of real rows");
    ok(of_text("a,kind\n1,real\n2,emulated\n") == (KIND_REAL | KIND_EMULATED), "a mixture");
    ok(of_text("a,kind\n1,real\n2,\"\"\n") == (KIND_REAL | KIND_NOT_KNOWN), "a row that does not say");
    ok(of_text("a,b\n1,real\n") == KIND_NOT_KNOWN, "a table that does not say");
    ok(dies(read_text, "a,kind\n1,guessed\n", 1, "table:2: column 'kind': 'guessed' is not real"), "another word dies");
    return done();
}
