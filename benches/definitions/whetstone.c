// The eight modules of Whetstone in C, each alone, to tell apart what a compiler leaves of them. The sixth stands twice:
// as published in 1976, where each call is given the same numbers, and as revised in 1987, where each call begins with
// the numbers of the one before. -DAPART keeps the three procedures apart from their callers.
// Prints nanoseconds of CPU time a loop: modules 1 to 5, both forms of 6, 7 and 8.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MODULE static __attribute__((noipa)) double
#ifdef APART
#define PROCEDURE static __attribute__((noipa)) void
#else
#define PROCEDURE static void
#endif

static double t = 0.499975, t1 = 0.50025, t2 = 2.0;

PROCEDURE six_times(double *e, double t, double t2) {
    for (int turn = 0; turn < 6; turn++) {
        e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
        e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
        e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
        e[3] = (-e[0] + e[1] + e[2] + e[3]) / t2;
    }
}
PROCEDURE called_1976(double x, double y, double *z, double t, double t2) {
    x = t * (x + y);
    y = t * (x + y);
    *z = (x + y) / t2;
}
PROCEDURE called_1987(double *x, double *y, double *z, double t, double t1, double t2) {
    *x = *y;
    *y = *z;
    *x = t * (*x + *y);
    *y = t1 * (*x + *y);
    *z = (*x + *y) / t2;
}
PROCEDURE swap(double *e, long j, long k, long l) {
    e[j] = e[k];
    e[k] = e[l];
    e[l] = e[j];
}

MODULE array(long loops) {
    double e[4] = {1, -1, -1, -1}, u = t;
    for (long turn = 0; turn < 12 * loops; turn++) {
        e[0] = (e[0] + e[1] + e[2] - e[3]) * u;
        e[1] = (e[0] + e[1] - e[2] + e[3]) * u;
        e[2] = (e[0] - e[1] + e[2] + e[3]) * u;
        e[3] = (-e[0] + e[1] + e[2] + e[3]) * u;
    }
    return e[3];
}
MODULE parameter(long loops) {
    double e[4] = {1, -1, -1, -1};
    for (long turn = 0; turn < 14 * loops; turn++) six_times(e, t, t2);
    return e[3];
}
MODULE jumps(long loops) {
    long j = 1;
    for (long turn = 0; turn < 345 * loops; turn++) {
        j = j == 1 ? 2 : 3;
        j = j > 2 ? 0 : 1;
        j = j < 1 ? 1 : 0;
    }
    return j;
}
MODULE integers(long loops) {
    double e[4] = {0};
    long j = 1, k = 2, l = 3;
    for (long turn = 0; turn < 210 * loops; turn++) {
        j = j * (k - j) * (l - k);
        k = l * k - (l - j) * k;
        l = (l - k) * (k + j);
        e[l - 2] = j + k + l;
        e[k - 2] = j * k * l;
    }
    return e[0] + e[1];
}
MODULE trigonometry(long loops) {
    double x = 0.5, y = 0.5, u = t;
    for (long turn = 1; turn <= 32 * loops; turn++) {
        x = u * atan(t2 * sin(x) * cos(x) / (cos(x + y) + cos(x - y) - 1.0));
        y = u * atan(t2 * sin(y) * cos(y) / (cos(x + y) + cos(x - y) - 1.0));
        // Begin anew: the numbers shrink from turn to turn.
        if (turn % 32 == 0) x = y = 0.5;
    }
    return x + y;
}
MODULE calls_1976(long loops) {
    double z = 1;
    for (long turn = 0; turn < 899 * loops; turn++) called_1976(1.0, 1.0, &z, t, t2);
    return z;
}
MODULE calls_1987(long loops) {
    double x = 1, y = 1, z = 1;
    for (long turn = 0; turn < 899 * loops; turn++) called_1987(&x, &y, &z, t, t1, t2);
    return z;
}
MODULE references(long loops) {
    double e[4] = {1, 2, 3, 0};
    for (long turn = 0; turn < 616 * loops; turn++) swap(e, 0, 1, 2);
    return e[0] + e[1];
}
MODULE functions(long loops) {
    double x = 0.75, u = t1;
    for (long turn = 0; turn < 93 * loops; turn++) x = sqrt(exp(log(x) / u));
    return x;
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return at.tv_sec * 1e9 + at.tv_nsec;
}

int main(int count, char **words) {
    long loops = count > 1 ? atol(words[1]) : 1000;
    double (*modules[])(long) = {array, parameter, jumps, integers, trigonometry, calls_1976, calls_1987, references, functions};
    volatile double sum = 0;
    for (int module = 0; module < 9; module++) {
        double began = now();
        sum += modules[module](loops);
        printf("%8.0f", (now() - began) / loops);
    }
    printf("\n");
}
