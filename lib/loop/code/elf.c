/* images as ELF files; after the System V ABI and its AMD64 supplement (relocation R_X86_64_PC32) */
#include "base/message.h"
#include "loop/code/image.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, SECTIONS = 10 };

struct file {                                            /* an ELF file in the making: contents at their offsets */
    struct buf b, names;
    Elf64_Shdr section[SECTIONS];
    int n;
};

static void pad(struct buf *b, size_t to)
{
    while (b->n % to) buf_char(b, 0);
}

static Elf64_Word name_of(struct buf *names, const char *s)
{
    if (!names->n) buf_char(names, 0);
    size_t at = names->n;
    buf_add(names, s, strlen(s) + 1);
    return (Elf64_Word)at;
}

/* a section whose contents are appended now, or none for SHT_NOBITS; its address is its offset */
static int section(struct file *f, const char *name, Elf64_Shdr h, const void *p, size_t n)
{
    pad(&f->b, h.sh_addralign ? h.sh_addralign : 1);
    h.sh_name = name_of(&f->names, name);
    h.sh_offset = f->b.n;
    h.sh_addr = h.sh_flags & SHF_ALLOC ? f->b.n : 0;
    h.sh_size = n;
    if (h.sh_type != SHT_NOBITS) buf_add(&f->b, p, n);
    f->section[f->n] = h;
    return f->n++;
}

static void symbols(const struct image *m, struct buf *table, struct buf *names, int text, size_t base, bool local)
{
    Elf64_Sym s = { 0 };
    name_of(names, "");
    buf_add(table, (const char *)&s, sizeof s);
    if (local) {                                         /* the section of the state, for relocations */
        s = (Elf64_Sym){ .st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = (Elf64_Section)(text + 1) };
        buf_add(table, (const char *)&s, sizeof s);
    }
    for (size_t i = 0; i < m->nsymbol; i++) {
        s = (Elf64_Sym){ .st_name = name_of(names, m->symbol[i].name),
                         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                         .st_shndx = (Elf64_Section)text,
                         .st_value = base + m->symbol[i].at,
                         .st_size = m->symbol[i].size };
        buf_add(table, (const char *)&s, sizeof s);
    }
}

static void finish(struct file *f, Elf64_Ehdr h, FILE *out)
{
    section(f, ".shstrtab", (Elf64_Shdr){ .sh_type = SHT_STRTAB }, NULL, 0);
    f->section[f->n - 1].sh_size = f->names.n;
    buf_add(&f->b, f->names.s, f->names.n);
    pad(&f->b, 8);
    memcpy(h.e_ident, (unsigned char[]){ 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, 7);
    h.e_machine = EM_X86_64;
    h.e_version = EV_CURRENT;
    h.e_shoff = f->b.n;
    h.e_ehsize = sizeof h;
    h.e_shentsize = sizeof(Elf64_Shdr);
    h.e_shnum = (Elf64_Half)f->n;
    h.e_shstrndx = (Elf64_Half)(f->n - 1);
    memcpy(f->b.s, &h, sizeof h);
    buf_add(&f->b, (const char *)f->section, sizeof *f->section * (size_t)f->n);
    if (fwrite(f->b.s, 1, f->b.n, out) != f->b.n) die_errno("cannot write the object");
    free(f->b.s);
    free(f->names.s);
}

void image_object(const struct image *m, FILE *out)
{
    struct file f = { .n = 1 };
    struct buf table = { 0 }, names = { 0 }, relocations = { 0 };
    Elf64_Ehdr h = { .e_type = ET_REL };
    buf_add(&f.b, (const char *)&h, sizeof h);
    int text = section(&f, ".text", (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                                  .sh_addralign = 64 }, m->bytes.s, m->bytes.n);
    section(&f, ".bss", (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_addralign = 64 },
            NULL, sizeof(struct carry_state));
    symbols(m, &table, &names, text, 0, true);
    for (size_t i = 0; i < m->nsite; i++) {
        Elf64_Rela r = { m->site[i].at, ELF64_R_INFO(1ul, R_X86_64_PC32), m->site[i].add };
        buf_add(&relocations, (const char *)&r, sizeof r);
    }
    int syms = f.n;
    section(&f, ".symtab", (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_link = (Elf64_Word)syms + 1, .sh_info = 2,
                                         .sh_addralign = 8, .sh_entsize = sizeof(Elf64_Sym) }, table.s, table.n);
    section(&f, ".strtab", (Elf64_Shdr){ .sh_type = SHT_STRTAB }, names.s, names.n);
    section(&f, ".rela.text", (Elf64_Shdr){ .sh_type = SHT_RELA, .sh_flags = SHF_INFO_LINK,
                                            .sh_link = (Elf64_Word)syms, .sh_info = (Elf64_Word)text,
                                            .sh_addralign = 8, .sh_entsize = sizeof(Elf64_Rela) },
            relocations.s, relocations.n);
    section(&f, ".note.GNU-stack", (Elf64_Shdr){ .sh_type = SHT_PROGBITS }, "", 0);
    for (int i = 0; i < f.n; i++) f.section[i].sh_addr = 0;
    finish(&f, h, out);
    free(table.s);
    free(names.s);
    free(relocations.s);
}

static uint32_t elf_hash(const char *s)                  /* of the System V ABI */
{
    uint32_t h = 0;
    for (; *s; s++) {
        h = (h << 4) + (unsigned char)*s;
        uint32_t g = h & 0xf0000000;
        h = (h ^ g >> 24) & ~g;
    }
    return h;
}

static void hash_table(const struct image *m, struct buf *b)
{
    uint32_t n = (uint32_t)m->nsymbol + 1, *x = xcalloc(2 + 2 * (size_t)n, sizeof *x);
    x[0] = x[1] = n;                                     /* buckets, chains */
    for (uint32_t i = 1; i < n; i++) {
        uint32_t *bucket = &x[2 + elf_hash(m->symbol[i - 1].name) % n];
        x[2 + n + i] = *bucket;
        *bucket = i;
    }
    buf_add(b, (const char *)x, (2 + 2 * (size_t)n) * sizeof *x);
    free(x);
}

/* one readable and executable segment with everything, and one page that may be written: dynamic table and state */
void image_shared(const struct image *m, FILE *out, const char *soname)
{
    enum { HEADS = 4 };
    struct file f = { .n = 1 };
    struct buf table = { 0 }, names = { 0 }, hash = { 0 };
    struct { Elf64_Ehdr h; Elf64_Phdr p[HEADS]; } head = { .h = { .e_type = ET_DYN } };
    buf_add(&f.b, (const char *)&head, sizeof head);
    size_t text_at = (sizeof head + 63) & ~(size_t)63;
    symbols(m, &table, &names, 1, text_at, false);
    Elf64_Word so = name_of(&names, soname);
    hash_table(m, &hash);
    int text = section(&f, ".text", (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                                  .sh_addralign = 64 }, m->bytes.s, m->bytes.n);
    int syms = section(&f, ".dynsym", (Elf64_Shdr){ .sh_type = SHT_DYNSYM, .sh_flags = SHF_ALLOC, .sh_link = 3,
                                                    .sh_info = 1, .sh_addralign = 8,
                                                    .sh_entsize = sizeof(Elf64_Sym) }, table.s, table.n);
    int strs = section(&f, ".dynstr", (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_flags = SHF_ALLOC }, names.s, names.n);
    int hashes = section(&f, ".hash", (Elf64_Shdr){ .sh_type = SHT_HASH, .sh_flags = SHF_ALLOC,
                                                    .sh_link = (Elf64_Word)syms, .sh_addralign = 8, .sh_entsize = 4 },
                         hash.s, hash.n);
    size_t end = f.b.n;
    pad(&f.b, PAGE);
    Elf64_Dyn d[] = { { DT_SONAME, { so } }, { DT_HASH, { f.section[hashes].sh_addr } },
                      { DT_STRTAB, { f.section[strs].sh_addr } }, { DT_SYMTAB, { f.section[syms].sh_addr } },
                      { DT_STRSZ, { names.n } }, { DT_SYMENT, { sizeof(Elf64_Sym) } }, { DT_NULL, { 0 } } };
    int dyn = section(&f, ".dynamic", (Elf64_Shdr){ .sh_type = SHT_DYNAMIC, .sh_flags = SHF_ALLOC | SHF_WRITE,
                                                    .sh_link = (Elf64_Word)strs, .sh_addralign = 64,
                                                    .sh_entsize = sizeof *d }, d, sizeof d);
    pad(&f.b, 64);
    int bss = section(&f, ".bss", (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE,
                                                .sh_addralign = 64 }, NULL, sizeof(struct carry_state));
    size_t data = f.section[dyn].sh_offset, state = f.section[bss].sh_addr;
    for (size_t i = 0; i < m->nsite; i++) {
        int32_t x = (int32_t)((int64_t)state + m->site[i].add - (int64_t)(f.section[text].sh_addr + m->site[i].at));
        memcpy(f.b.s + f.section[text].sh_offset + m->site[i].at, &x, 4);
    }
    const Elf64_Phdr p[HEADS] = {
        { PT_LOAD, PF_R | PF_X, 0, 0, 0, end, end, PAGE },
        { PT_LOAD, PF_R | PF_W, data, data, data, state - data, state - data + sizeof(struct carry_state), PAGE },
        { PT_DYNAMIC, PF_R | PF_W, data, data, data, sizeof d, sizeof d, 8 },
        { PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16 } };
    memcpy(f.b.s + sizeof(Elf64_Ehdr), p, sizeof p);
    head.h.e_phoff = sizeof(Elf64_Ehdr);
    head.h.e_phentsize = sizeof(Elf64_Phdr);
    head.h.e_phnum = HEADS;
    finish(&f, head.h, out);
    free(table.s);
    free(names.s);
    free(hash.s);
}
