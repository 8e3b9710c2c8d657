// b = a: n words of 16 bytes.
kernel void copy(global const uint4 *a, global uint4 *b, ulong n) {
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) b[i] = a[i];
}
