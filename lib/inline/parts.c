/* parts.c - see parts.h */
#include "inline/parts.h"
#include "base/compare.h"
#include "inline/live.h"
#include "base/message.h"
#include "table/csvio.h"
#include <elf.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct symbol { uint64_t begin, end; str name; };
struct symbols { struct symbol *v; size_t n; void *map; size_t bytes; };

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    return ORDER(x->begin, y->begin);
}

/* the functions of an executable, in order of address, each up to the next or the end of its section */
static struct symbols read_symbols(const char *path)
{
    struct symbols s = { 0 };
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) die_errno("%s", path);
    s.bytes = (size_t)st.st_size;
    s.map = s.bytes ? mmap(NULL, s.bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    const unsigned char *p = s.map;
    Elf64_Ehdr h;
    if (s.map == MAP_FAILED || s.bytes < sizeof h) die("%s: not an ELF program", path);
    memcpy(&h, p, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_shoff > s.bytes ||
        (s.bytes - h.e_shoff) / sizeof(Elf64_Shdr) < h.e_shnum)
        die("%s: not an ELF64 program with sections", path);
    Elf64_Shdr *section = xmalloc(h.e_shnum, sizeof *section);
    memcpy(section, p + h.e_shoff, h.e_shnum * sizeof *section);
    for (size_t i = 0; i < h.e_shnum; i++) {
        const Elf64_Shdr *t = &section[i];
        if (t->sh_type != SHT_SYMTAB || t->sh_link >= h.e_shnum) continue;
        const Elf64_Shdr *text = &section[t->sh_link];
        if (t->sh_offset + t->sh_size > s.bytes || text->sh_offset + text->sh_size > s.bytes) continue;
        size_t n = t->sh_size / sizeof(Elf64_Sym);
        s.v = xmalloc(n, sizeof *s.v);
        for (size_t k = 0; k < n; k++) {
            Elf64_Sym y;
            memcpy(&y, p + t->sh_offset + k * sizeof y, sizeof y);
            if (ELF64_ST_TYPE(y.st_info) != STT_FUNC || y.st_size == 0 || y.st_shndx >= h.e_shnum ||
                y.st_name >= text->sh_size)
                continue;
            const Elf64_Shdr *in = &section[y.st_shndx];
            s.v[s.n++] = (struct symbol){ y.st_value, in->sh_addr + in->sh_size,
                                          str_of((const char *)p + text->sh_offset + y.st_name) };
        }
        break;
    }
    free(section);
    if (s.n) qsort(s.v, s.n, sizeof *s.v, by_address);
    for (size_t i = 0; i + 1 < s.n; i++) if (s.v[i + 1].begin < s.v[i].end) s.v[i].end = s.v[i + 1].begin;
    return s;
}

static void free_symbols(struct symbols *s)
{
    munmap(s->map, s->bytes);
    free(s->v);
}

static double *part(struct parts *p, str name)
{
    size_t before = p->name.n;
    uint32_t k = intern(&p->name, p->exact ? name : site_plain(name));
    p->cost = grow(p->cost, (size_t)k + 1, &p->cap, sizeof *p->cost);
    if (k == before) memset(p->cost[k], 0, sizeof p->cost[k]);
    return p->cost[k];
}

void parts_of_program(struct parts *p, const char *exe)
{
    struct symbols s = read_symbols(exe);
    for (size_t i = 0; i < s.n; i++) part(p, s.v[i].name)[0] += (double)(s.v[i].end - s.v[i].begin) + PART_EXISTS;
    free_symbols(&s);
}

void parts_add_run(struct parts *p, const char *exe, const struct blocks *b)
{
    if (p->runs == PART_RUNS) return;
    struct symbols s = read_symbols(exe);
    size_t run = ++p->runs, k = 0;
    for (size_t i = 0; i < b->n; i++) {
        while (k < s.n && s.v[k].end <= b->address[i]) k++;
        if (k < s.n && b->address[i] >= s.v[k].begin) part(p, s.v[k].name)[run] += (double)b->count[i];
    }
    free_symbols(&s);
}

double parts_run(const struct parts *p, size_t run)
{
    double sum = 0;
    for (size_t i = 0; i < p->name.n && run < PART_RUNS; i++) sum += p->cost[i][1 + run];
    return run < PART_RUNS ? sum : INFINITY;
}

void parts_write(const struct parts *p, const char *path)
{
    csvw *w = csvw_open(path);
    csvw_names(w, "function,bytes");
    for (size_t k = 1; k <= p->runs; k++) csvw_format(w, "run%zu", k);
    csvw_end(w);
    for (size_t i = 0; i < p->name.n; i++) {
        csvw_str(w, p->name.name[i]);
        for (size_t k = 0; k <= p->runs; k++) csvw_num(w, p->cost[i][k]);
        csvw_end(w);
    }
    csvw_close(w);
}

bool parts_read(struct parts *p, const char *path)
{
    if (access(path, R_OK) != 0) return false;
    csv *t = csv_open(path);
    int function = csv_need(t, "function"), bytes = csv_need(t, "bytes"), run[PART_RUNS];
    for (p->runs = 0; p->runs < PART_RUNS; p->runs++) {
        char name[16];
        snprintf(name, sizeof name, "run%zu", p->runs + 1);
        run[p->runs] = csv_find(t, name);
        if (run[p->runs] < 0) break;
    }
    while (csv_next(t)) {
        double *cost = part(p, csv_str(t, function));
        cost[0] = csv_num(t, bytes);
        for (size_t k = 0; k < p->runs; k++) cost[1 + k] = csv_num(t, run[k]);
    }
    csv_close(t);
    return true;
}

const double *parts_find(const struct parts *p, str function)
{
    long k = intern_find(&p->name, p->exact ? function : site_plain(function));
    return k < 0 ? NULL : p->cost[k];
}

void parts_free(struct parts *p)
{
    intern_free(&p->name);
    free(p->cost);
    *p = (struct parts){ 0 };
}
