/* bench-machine - describe the machine that measurements are made on
 *
 * Usage: bench-machine [--line]
 *
 * Columns out: fingerprint, fact, value; one row per fact (CPU model, caches,
 * kernel, hypervisor, hardware counters, governor, limits, libc, compiler,
 * git).  A value that is not known is empty.  The fingerprint is what column
 * machine of a table of runs holds; it changes with CPU, cores, caches,
 * memory, kernel, hypervisor or libc, and not from run to run.  --line is for the
 * foot of a picture: cores, model, memory, whether it is virtual, fingerprint.
 *
 * Examples:
 *   $ bench-machine > runs.machine.csv
 */
#include "base/filter.h"
#include "base/out.h"
#include HELP
#include "measure/machine.h"
#include "table/csvio.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool as_line;
static const struct opt options[] = {
    { 0, "line", FLAG, &as_line, NULL, "one line of text" },
    { 0 } };

static const char *fact(const struct machine *m, const char *name)
{
    for (size_t k = 0; k < m->n; k++)
        if (strcmp(m->fact[k].name, name) == 0 && m->fact[k].value) return m->fact[k].value;
    return "";
}

static int write_line(const struct machine *m)
{
    const char *cores = fact(m, "cores"), *memory = fact(m, "memory");
    printf("%s core%s of %s", *cores ? cores : "?", strcmp(cores, "1") == 0 ? "" : "s", fact(m, "cpu_model"));
    if (*memory) printf(", %.0f GB", strtod(memory, NULL) * 1024 / 1e9);
    printf("%s, machine %s\n", strcmp(fact(m, "hypervisor"), "yes") == 0 ? ", virtual" : "", m->fingerprint);
    return finish();
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i < argc) usage("'%s': no operand is expected", argv[i]);
    static struct machine m;
    m = machine_read();
    if (as_line) return write_line(&m);
    csvw *w = csvw_fd(1);
    csvw_names(w, "fingerprint,fact,value");
    csvw_end(w);
    for (size_t k = 0; k < m.n; k++) {
        csvw_cstr(w, m.fingerprint);
        csvw_cstr(w, m.fact[k].name);
        csvw_cstr(w, m.fact[k].value);
        csvw_end(w);
    }
    return csvw_close(w);
}
