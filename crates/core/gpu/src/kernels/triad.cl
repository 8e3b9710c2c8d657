// c = a + 3 b: n pairs of doubles.
kernel void triad(global const double2 *a, global const double2 *b, global double2 *c, ulong n) {
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) c[i] = fma(b[i], (double2)(3.0), a[i]);
}
