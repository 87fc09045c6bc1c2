/* plain loops with the sizes as constants, for compilers with their own loop optimisers; -DM= -DN= -DK= -DTA= -DTB= */
void *peer_open(const char *kind, const long *size, const char **why)
{
    (void)kind, (void)size, (void)why;
    static int here;
    return &here;
}

#if TA
#define A_AT(i, k) a[(k) * M + (i)]
#else
#define A_AT(i, k) a[(i) * K + (k)]
#endif
#if TB
#define B_AT(k, j) b[(j) * K + (k)]
#else
#define B_AT(k, j) b[(k) * N + (j)]
#endif

void peer_run(void *data, float *restrict c, const float *restrict a, const float *restrict b)
{
    (void)data;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) c[i * N + j] = 0;
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) c[i * N + j] += A_AT(i, k) * B_AT(k, j);
}
