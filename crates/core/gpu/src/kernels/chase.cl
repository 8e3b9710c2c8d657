// Follows n addresses (a multiple of 8) from a on: out = the last one as an offset, and no clock cycles.
#define LOAD at = (global const ulong *)*at;
kernel void chase(global const ulong *a, global ulong *out, ulong n) {
    global const ulong *at = a;
    for (ulong i = 0; i < n; i += 8) { LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD }
    out[0] = (ulong)at - (ulong)a;
    out[1] = 0;
}
