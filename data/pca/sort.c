/* Merge sort of linked cells by small functions: comparison, splitting, merging are all worth inlining or not. */
#include <stdio.h>
#include <stdlib.h>

struct cell { unsigned key; struct cell *next; };

static unsigned state = 1;

static unsigned draw(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static int less(const struct cell *a, const struct cell *b)
{
    return a->key < b->key;
}

static struct cell *split(struct cell *list)
{
    struct cell *slow = list, *fast = list->next;
    while (fast && fast->next) {
        slow = slow->next;
        fast = fast->next->next;
    }
    struct cell *half = slow->next;
    slow->next = NULL;
    return half;
}

static struct cell *merge(struct cell *a, struct cell *b)
{
    struct cell head = { 0, NULL }, *last = &head;
    while (a && b) {
        struct cell **from = less(b, a) ? &b : &a;
        last->next = *from;
        last = *from;
        *from = (*from)->next;
    }
    last->next = a ? a : b;
    return head.next;
}

static struct cell *sort(struct cell *list)
{
    if (!list || !list->next) return list;
    struct cell *half = split(list);
    return merge(sort(list), sort(half));
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    struct cell *list = NULL;
    for (long i = 0; i < n; i++) {
        struct cell *c = malloc(sizeof *c);
        if (!c) return 1;
        *c = (struct cell){ draw(), list };
        list = c;
    }
    unsigned hash = 0;
    for (list = sort(list); list; list = list->next) hash = hash * 31 + list->key;
    printf("%u\n", hash);
    return 0;
}
