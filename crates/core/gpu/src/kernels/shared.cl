// A ring of 1024 words in local memory with a stride, followed for n steps (a multiple of 8):
// out = the last place, and no clock cycles.
#define LOAD at = ring[at];
kernel void shared(global ulong *out, ulong stride, ulong n) {
    local volatile uint ring[1024];
    for (uint k = 0; k < 1024; k++) ring[k] = (k + (uint)stride) & 1023;
    uint at = 0;
    for (ulong i = 0; i < n; i += 8) { LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD }
    out[0] = at;
    out[1] = 0;
}
