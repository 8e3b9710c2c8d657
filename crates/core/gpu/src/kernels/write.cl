// a = value: n words of 16 bytes.
kernel void write(global ulong2 *a, ulong value, ulong n) {
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) a[i] = value;
}
