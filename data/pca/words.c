/* A tree of words drawn from a seed: character classes, comparison, insertion and a walk, with an allocation a word. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { char word[12]; long count; struct node *left, *right; };

static unsigned state = 7;

static unsigned draw(unsigned n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 10) % n;
}

static int vowel(unsigned c)
{
    return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u';
}

static char letter(int after_vowel)
{
    unsigned c = 'a' + draw(26);
    while (vowel(c) == after_vowel) c = 'a' + draw(26);
    return (char)c;
}

static void make_word(char *word)
{
    unsigned n = 2 + draw(4);
    word[0] = letter(0);
    for (unsigned i = 1; i < n; i++) word[i] = letter(vowel((unsigned)word[i - 1]));
    word[n] = 0;
}

static struct node *insert(struct node *n, const char *word)
{
    if (!n) {
        n = calloc(1, sizeof *n);
        if (!n) exit(1);
        strncpy(n->word, word, sizeof n->word - 1);
    }
    int order = strcmp(word, n->word);
    if (order < 0) n->left = insert(n->left, word);
    else if (order > 0) n->right = insert(n->right, word);
    else n->count++;
    return n;
}

static unsigned long walk(const struct node *n, unsigned long hash)
{
    if (!n) return hash;
    hash = walk(n->left, hash) * 31 + (unsigned long)n->count;
    return walk(n->right, hash);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    struct node *root = NULL;
    char word[12];
    for (long i = 0; i < n; i++) {
        make_word(word);
        root = insert(root, word);
    }
    printf("%lu\n", walk(root, 0));
    return 0;
}
