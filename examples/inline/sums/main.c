/* sums N: how many distinct remainders N numbers leave, by hash functions of another file */
#include "hash.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static unsigned char seen[1 << 16];
    unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000, x = 1, distinct = 0;
    for (unsigned i = 0; i < n; i++) {
        x = mix(x + i) ^ fold(x, i);
        unsigned char *s = &seen[bucket(x, 16)];
        distinct += !*s;
        *s = 1;
    }
    printf("%u %u\n", x, distinct);
    return 0;
}
