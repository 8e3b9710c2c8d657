/* Counts primes below a limit with a segmented sieve and prints a digest of them: small, real, and the same everywhere. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 32768 };

int main(int argc, char **argv) {
    uint64_t limit = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    if (limit < 100 || limit > 4000000000ull) {
        fprintf(stderr, "usage: sieve LIMIT, from 100 to 4000000000\n");
        return 2;
    }
    uint32_t root = 1;
    while ((uint64_t)root * root <= limit) root++;
    char *small = calloc(root + 1, 1);
    uint32_t *primes = malloc((root + 1) * sizeof *primes);
    uint64_t *next = malloc((root + 1) * sizeof *next);
    if (!small || !primes || !next) return 3;
    uint32_t known = 0;
    for (uint32_t i = 2; i <= root; i++) {
        if (small[i]) continue;
        primes[known] = i;
        next[known++] = (uint64_t)i * i;
        for (uint64_t j = (uint64_t)i * i; j <= root; j += i) small[j] = 1;
    }
    static char block[SEGMENT];
    uint64_t count = 0, digest = 14695981039346656037ull;
    for (uint64_t low = 0; low < limit; low += SEGMENT) {
        memset(block, 0, SEGMENT);
        for (uint32_t p = 0; p < known; p++) {
            uint64_t at = next[p];
            for (; at < low + SEGMENT; at += primes[p]) block[at - low] = 1;
            next[p] = at;
        }
        for (uint64_t i = low < 2 ? 2 : low; i < low + SEGMENT && i < limit; i++) {
            if (block[i - low]) continue;
            count++;
            digest = (digest ^ i) * 1099511628211ull;
        }
    }
    printf("primes=%llu\ndigest=%016llx\n", (unsigned long long)count, (unsigned long long)digest);
    free(small);
    free(primes);
    free(next);
    return 0;
}
