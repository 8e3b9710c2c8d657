// The program of crates/core/kernels/src/dhrystone.rs in C, to tell apart what the language, the library's comparison of
// strings and merged procedures are worth. Compiled three ways by run.sh:
//   -DAPART      no procedure is merged with another and none is specialised for its callers (as in the kernel);
//   -DHALF=1, 2  two files, as UnixBench builds it: the compiler may merge within each;
//   neither      one file, everything may be merged.
// Prints nanoseconds of CPU time a run.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef APART
#define PROCEDURE __attribute__((noipa))
#else
#define PROCEDURE
#endif

enum sign { ONE, TWO, THREE, FOUR, FIVE };
typedef char text[31];
struct record {
    struct record *next;
    enum sign plain, sign;
    int number;
    text text;
};

#if HALF == 2
#define GLOBAL extern
#else
#define GLOBAL
#endif
GLOBAL struct record *head, *spare;
GLOBAL int number, flag, list[50], table[50][50];
GLOBAL char one, two;

int is_third(enum sign sign);
void choose(enum sign sign, enum sign *chosen);
void plus_two(int a, int b, int *sum);
void arrays(int *list, int (*table)[50], int a, int b);
enum sign same(char a, char b);
int is_later(char *first, char *second);

#if HALF != 1
PROCEDURE int is_third(enum sign sign) { return sign == THREE; }

PROCEDURE void choose(enum sign sign, enum sign *chosen) {
    *chosen = is_third(sign) ? sign : FOUR;
    switch (sign) {
    case ONE: *chosen = ONE; break;
    case TWO: *chosen = number > 100 ? ONE : FOUR; break;
    case THREE: *chosen = TWO; break;
    case FOUR: break;
    case FIVE: *chosen = THREE;
    }
}

PROCEDURE void plus_two(int a, int b, int *sum) { *sum = b + (a + 2); }

PROCEDURE void arrays(int *list, int (*table)[50], int a, int b) {
    int at = a + 5;
    list[at] = b;
    list[at + 1] = list[at];
    list[at + 30] = at;
    for (int column = at; column <= at + 1; column++) table[at][column] = at;
    table[at][at - 1] += 1;
    table[at + 20][at] = list[at];
    number = 5;
}

PROCEDURE enum sign same(char a, char b) {
    if (a != b) return ONE;
    one = a;
    return TWO;
}

PROCEDURE int is_later(char *first, char *second) {
    int at = 2;
    char letter = 0;
    while (at <= 2)
        if (same(first[at], second[at + 1]) == ONE) {
            letter = 'A';
            at++;
        }
    if (letter >= 'W' && letter < 'Z') at = 7;
    if (letter == 'R') return 1;
    if (strcmp(first, second) > 0) {
        number = at + 7;
        return 1;
    }
    return 0;
}
#endif

#if HALF != 2
PROCEDURE static void follow(struct record **link) {
    if (head) *link = head->next;
    plus_two(10, number, &head->number);
}

PROCEDURE static void record(struct record *at) {
    struct record *next = at->next;
    *next = *head;
    at->number = 5;
    next->number = at->number;
    next->next = at->next;
    follow(&next->next);
    if (next->plain == ONE) {
        next->number = 6;
        choose(at->sign, &next->sign);
        next->next = head->next;
        plus_two(next->number, 10, &next->number);
    } else {
        *at = *next;
    }
}

PROCEDURE static void settle(int *value) {
    int local = *value + 10;
    for (enum sign sign = TWO; sign != ONE;)
        if (one == 'A') {
            *value = --local - number;
            sign = ONE;
        }
}

PROCEDURE static void letters(void) {
    flag |= one == 'A';
    two = 'B';
}

PROCEDURE static void reset(void) {
    one = 'A';
    flag = 0;
}

int main(int count, char **words) {
    long runs = count > 1 ? atol(words[1]) : 1000000;
    head = calloc(1, sizeof *head);
    spare = calloc(1, sizeof *spare);
    if (!head || !spare) return 1;
    *head = (struct record){spare, ONE, THREE, 40, "THE BRAKE OF PRONY, A KEPT ONE"};
    spare->next = spare;
    table[8][7] = 10;
    text first = "THE BRAKE OF PRONY, FIRST TEXT", second;
    int a = 0, b = 0, c = 0;
    enum sign sign = ONE;
    struct timespec began, ended;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    for (long run = 1; run <= runs; run++) {
        reset();
        letters();
        a = 2;
        b = 3;
        strcpy(second, "THE BRAKE OF PRONY, OTHER TEXT");
        sign = TWO;
        flag = !is_later(first, second);
        while (a < b) {
            c = 5 * a - b;
            plus_two(a, b, &c);
            a++;
        }
        arrays(list, table, a, c);
        record(head);
        for (char letter = 'A'; letter <= two; letter++)
            if (sign == same(letter, 'C')) {
                choose(ONE, &sign);
                strcpy(second, "THE BRAKE OF PRONY, THIRD TEXT");
                b = number = run;
            }
        b *= a;
        a = b / c;
        b = 7 * (b - c) - a;
        settle(&a);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    // The published end, so that nothing can be left out.
    if (a != 5 || b != 13 || c != 7 || sign != TWO || table[8][7] != (int)runs + 10 || strcmp(second + 20, "OTHER TEXT")) return 2;
    printf("%.3f\n", ((ended.tv_sec - began.tv_sec) * 1e9 + (ended.tv_nsec - began.tv_nsec)) / runs);
}
#endif
