// Offsets in bytes become addresses: a[i] = a + a[i] for i < n.
kernel void link(global ulong *a, ulong n) {
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) a[i] += (ulong)a;
}
