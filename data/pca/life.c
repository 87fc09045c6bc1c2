/* The game of life on a torus, one accessor per cell: all calls are in the innermost loop. */
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 128 };

static unsigned char world[2][SIDE][SIDE];

static int wrap(int i)
{
    return (i + SIDE) % SIDE;
}

static int alive(int w, int y, int x)
{
    return world[w][wrap(y)][wrap(x)];
}

static int neighbours(int w, int y, int x)
{
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dy || dx) n += alive(w, y + dy, x + dx);
    return n;
}

static int rule(int self, int n)
{
    return n == 3 || (self && n == 2);
}

static void step(int w)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) world[!w][y][x] = (unsigned char)rule(alive(w, y, x), neighbours(w, y, x));
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
    unsigned state = 1;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) world[0][y][x] = (state = state * 1664525u + 1013904223u) >> 30 == 0;
    for (long i = 0; i < n; i++) step((int)(i & 1));
    long sum = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) sum += world[n & 1][y][x] * (y * SIDE + x);
    printf("%ld\n", sum);
    return 0;
}
