// a[i] = the upper 20 bits of SplitMix64 of seed + i, as a double, for i < n.
kernel void pattern(global double *a, ulong seed, ulong n) {
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        ulong z = seed + i + 0x9e3779b97f4a7c15UL;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
        z ^= z >> 31;
        a[i] = (double)(z >> 44);
    }
}
