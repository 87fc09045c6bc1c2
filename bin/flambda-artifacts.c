/* flambda-artifacts - static instruction counts of programs in archives
 *
 * Usage: flambda-artifacts ARCHIVE...
 *
 * In: archives of build artifacts, tar, cpio, zip or ar, compressed or not.
 * Columns out: archive, step (the archive's folder), member,
 * static_instructions; one row for each ELF program or shared library inside:
 * the instructions of its .text section as objdump disassembles it.  An
 * archive without any gives one row with member and count empty.  Memory: the
 * largest disassembly.  For many archives run several at a time, see
 * pipelines/pca.mk.
 *
 * Examples:
 *   $ flambda-artifacts opt_data/7/0/artifacts.tar
 */
#include "base/filter.h"
#include HELP
#include "flambda/artifacts.h"
#include "table/csvio.h"
#include <string.h>

static const char *output;
static const struct opt options[] = {
    OUTPUT_OPTION(output),
    { 0 } };

struct where { csvw *w; const char *archive; };

static void write_row(void *context, const char *member, long instructions)
{
    const struct where *k = context;
    const char *slash = strrchr(k->archive, '/');
    csvw_cstr(k->w, k->archive);
    csvw_str(k->w, slash ? (str){ k->archive, (size_t)(slash - k->archive) } : str_of("."));
    csvw_cstr(k->w, member);
    if (member) csvw_int(k->w, instructions);
    else csvw_empty(k->w);
    csvw_end(k->w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i == argc) usage("no archive given");
    struct where k = { .w = csvw_open(output) };
    csvw_names(k.w, "archive,step,member,static_instructions");
    csvw_end(k.w);
    for (; i < argc; i++) {
        k.archive = argv[i];
        if (!artifacts_count(argv[i], write_row, &k)) write_row(&k, NULL, 0);
    }
    return csvw_close(k.w);
}
