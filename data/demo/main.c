/* words: count the words of standard input; sort: also order them by count */
#include "table.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct word *list[65536];

static int letter(int c)
{
    return isalpha(c) || c == '_';
}

static int get_word(char *w, int max)
{
    int c, n = 0;
    while ((c = getchar()) != EOF && !letter(c)) continue;
    if (c == EOF) return 0;
    do if (n < max - 1) w[n++] = (char)tolower(c);
    while ((c = getchar()) != EOF && letter(c));
    w[n] = 0;
    return 1;
}

static int before(const struct word *a, const struct word *b)
{
    if (a->count != b->count) return a->count > b->count;
    return strcmp(a->text, b->text) < 0;
}

static void swap(struct word **a, struct word **b)
{
    struct word *t = *a;
    *a = *b;
    *b = t;
}

static void quicksort(struct word **v, int n)
{
    if (n < 2) return;
    swap(&v[0], &v[n / 2]);
    int last = 0;
    for (int i = 1; i < n; i++) if (before(v[i], v[0])) swap(&v[++last], &v[i]);
    swap(&v[0], &v[last]);
    quicksort(v, last);
    quicksort(v + last + 1, n - last - 1);
}

static void say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
}

int main(int argc, char **argv)
{
    char w[32];
    unsigned total = 0;
    while (get_word(w, sizeof w)) table_find(w)->count++, total++;
    unsigned n = table_list(list, 65536);
    if (argc > 1 && strcmp(argv[1], "sort") == 0) quicksort(list, (int)n);
    for (unsigned i = 0; i < n && i < 20; i++) say("%u %s\n", list[i]->count, list[i]->text);
    say("%u words, %u distinct\n", total, n);
    return 0;
}
