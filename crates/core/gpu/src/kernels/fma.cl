// Eight chains of x = a x + b, 32 n steps each, from the chain's number plus the lowest 4 bits of the thread's.
// Threads store their chains as doubles.
#pragma OPENCL EXTENSION cl_khr_fpBITS : enable
#define EACH(OF) OF(0) OF(1) OF(2) OF(3) OF(4) OF(5) OF(6) OF(7)
#define STEP(c) f##c = fma(f##c, x, y);
#define FOUR EACH(STEP) EACH(STEP) EACH(STEP) EACH(STEP)
#define START(c) VECTOR f##c = (VECTOR)((NUMBER)((get_global_id(0) & 15) + c));
#define STORE(c) out[8 * get_global_id(0) + c] = f##c LOWER;
kernel void NAME(global double *out, ulong a, ulong b, ulong n) {
    const VECTOR x = (VECTOR)((NUMBER)(long)a), y = (VECTOR)((NUMBER)(long)b);
    EACH(START)
    for (ulong i = 0; i < n; i++) { FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR }
    EACH(STORE)
}
