// out[thread] = exclusive or of what the thread read of n words of 16 bytes.
kernel void read(global const ulong2 *a, global ulong *out, ulong n) {
    ulong2 sum = 0;
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) sum ^= a[i];
    out[get_global_id(0)] = sum.x ^ sum.y;
}
