// Every thread adds 1 n times to a[thread & mask].
kernel void atomic(volatile global uint *a, ulong n, ulong mask) {
    volatile global uint *mine = a + (get_global_id(0) & mask);
    for (ulong i = 0; i < n; i++) atomic_inc(mine);
}
