// Reads mapped files by two loops: every word added up as compilers like it, and sixteen words a turn without vector
// instructions, as lmbench's programs do. Prints GB/s of CPU time, medians of 21 passes that take turns.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

static __attribute__((noipa)) uint64_t plain(const uint64_t *words, size_t count) {
    uint64_t sum = 0;
    for (size_t at = 0; at < count; at++) sum += words[at];
    return sum;
}

static __attribute__((noipa, optimize("no-tree-vectorize"))) uint64_t sixteen(const uint64_t *words, size_t count) {
    uint64_t sum = 0;
    for (size_t at = 0; at + 16 <= count; at += 16)
        sum += words[at] + words[at + 1] + words[at + 2] + words[at + 3] + words[at + 4] + words[at + 5] + words[at + 6] +
               words[at + 7] + words[at + 8] + words[at + 9] + words[at + 10] + words[at + 11] + words[at + 12] +
               words[at + 13] + words[at + 14] + words[at + 15];
    return sum;
}

static int order(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double pass(uint64_t (*loop)(const uint64_t *, size_t), const void *map, size_t size) {
    struct timespec began, ended;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    volatile uint64_t sum = loop(map, size / 8);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    (void)sum;
    return size / ((ended.tv_sec - began.tv_sec) * 1e9 + (ended.tv_nsec - began.tv_nsec));
}

int main(int count, char **names) {
    for (int name = 1; name < count; name++) {
        struct stat found;
        int file = open(names[name], O_RDONLY);
        if (file < 0 || fstat(file, &found)) return 1;
        void *map = mmap(NULL, found.st_size, PROT_READ, MAP_SHARED, file, 0);
        if (map == MAP_FAILED) return 1;
        plain(map, found.st_size / 8);
        double rates[2][21];
        for (int turn = 0; turn < 21; turn++) {
            rates[0][turn] = pass(plain, map, found.st_size);
            rates[1][turn] = pass(sixteen, map, found.st_size);
        }
        qsort(rates[0], 21, sizeof(double), order);
        qsort(rates[1], 21, sizeof(double), order);
        printf("%s: %.1f and %.1f\n", names[name], rates[0][10], rates[1][10]);
    }
}
