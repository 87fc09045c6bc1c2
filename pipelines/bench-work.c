/* work UNITS [SEED] - a program of known cost for the measurements of this folder: 1000 units take about 15 ms, half
 * of it arithmetic and half memory; the cost is linear in UNITS, so 1010 is a planted slow-down of 1 %. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static uint32_t table[1 << 15];
    long units = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    uint64_t x = 88172645463325252u, sum = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) table[i] = (uint32_t)(i * 2654435761u);
    for (long u = 0; u < units; u++) {
        for (int i = 0; i < 9000; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            sum += table[x & 0x7fff];
            table[(x >> 20) & 0x7fff] ^= (uint32_t)sum;
        }
    }
    puts(argc > 2 && sum == 0 ? "zero" : "done");
    return 0;
}
