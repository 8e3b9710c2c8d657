// Least-squares fit of a circle to signed drift distances of axial wires, by Gauss-Newton steps: the function
// `physics::reconstruct::fit::<3>`, operation by operation, so that every bit is that of the CPU. Sine and cosine are
// those of FreeBSD's msun, as in the crate libm (Copyright 1993 Sun Microsystems; permission to use, copy, modify and
// distribute is freely granted, provided that this notice is preserved).
//
// hits: x, y, drift for each hit. first: index of the first hit of each track, and the end. guess: curvature, phi, d0
// of each track. out: curvature, phi, d0, chi-square of each track; NaN if there is no fit. n tracks.
#pragma OPENCL FP_CONTRACT OFF

#define STEPS 8
#define CONVERGED 1e-4
#define WEIGHT (1.0 / 0.0125)

static double k_sin(double x, double y, int reduced) {
    const double z = x * x, w = z * z;
    const double r = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06)
        + z * w * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
    const double v = z * x, s1 = -1.66666666666666324348e-01;
    return reduced ? x - ((z * (0.5 * y - v * r) - y) - v * s1) : x + v * (s1 + z * r);
}

static double k_cos(double x, double y) {
    const double z = x * x, w = z * z;
    const double r = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05))
        + w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
    const double hz = 0.5 * z, v = 1.0 - hz;
    return v + (((1.0 - v) - hz) + (z * r - x * y));
}

// The remainder of x by pi / 2 for |x| up to 9 pi / 4; NaN beyond, where no direction lies.
static int rem_pio2(double x, double *y0, double *y1) {
    const double one = 1.57079632673412561417e+00, tail = 6.07710050650619224932e-11;
    const uint ix = (uint)(as_ulong(x) >> 32) & 0x7fffffff;
    int n;
    if ((ix & 0xfffff) == 0x921fb || ix == 0x4012d97c || ix == 0x401921fb) {
        const double to_int = 1.5 / 2.2204460492503131e-16;
        const double f = (x * 6.36619772367581382433e-01 + to_int) - to_int;
        double r = x - f * one, w = f * tail, t;
        n = (int)f;
        *y0 = r - w;
        const int ex = ix >> 20;
        if (ex - (int)((as_ulong(*y0) >> 52) & 0x7ff) > 16) {
            t = r;
            w = f * 6.07710050630396597660e-11;
            r = t - w;
            w = f * 2.02226624879595063154e-21 - ((t - r) - w);
            *y0 = r - w;
            if (ex - (int)((as_ulong(*y0) >> 52) & 0x7ff) > 49) {
                t = r;
                w = f * 2.02226624871116645580e-21;
                r = t - w;
                w = f * 8.47842766036889956997e-32 - ((t - r) - w);
                *y0 = r - w;
            }
        }
        *y1 = (r - *y0) - w;
        return n;
    }
    n = ix <= 0x4002d97c ? 1 : ix <= 0x400f6a7a ? 2 : ix <= 0x4015fdbc ? 3 : 4;
    if (ix > 0x401c463b) { *y0 = *y1 = NAN; return 0; }
    if (x < 0.0) n = -n;
    const double z = x - n * one;
    *y0 = z - n * tail;
    *y1 = (z - *y0) - n * tail;
    return n;
}

static void sincos_of(double x, double *s, double *c) {
    const uint ix = (uint)(as_ulong(x) >> 32) & 0x7fffffff;
    if (ix <= 0x3fe921fb) {
        const int tiny = ix < 0x3e46a09e;
        *s = tiny ? x : k_sin(x, 0.0, 0);
        *c = tiny ? 1.0 : k_cos(x, 0.0);
        return;
    }
    double y0, y1;
    const int n = rem_pio2(x, &y0, &y1) & 3;
    const double sine = k_sin(y0, y1, 1), cosine = k_cos(y0, y1);
    *s = n == 0 ? sine : n == 1 ? cosine : n == 2 ? -sine : -cosine;
    *c = n == 0 ? cosine : n == 1 ? -sine : n == 2 ? -cosine : sine;
}

// The inverse of a symmetric matrix of 3 rows by Cholesky decomposition; 0 if it is not positive definite.
static int invert(double m[3][3], double inverse[3][3]) {
    double low[3][3] = {{0.0}};
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column <= row; column++) {
            double known = -0.0;
            for (int k = 0; k < column; k++) known += low[row][k] * low[column][k];
            const double rest = m[row][column] - known;
            if (row == column) {
                if (!(rest > 0.0 && rest < INFINITY)) return 0;
                low[row][row] = sqrt(rest);
            } else {
                low[row][column] = rest / low[column][column];
            }
        }
    }
    for (int unit = 0; unit < 3; unit++) {
        double solution[3] = {0.0, 0.0, 0.0};
        for (int row = 0; row < 3; row++) {
            double known = -0.0;
            for (int k = 0; k < row; k++) known += low[row][k] * solution[k];
            solution[row] = ((row == unit ? 1.0 : 0.0) - known) / low[row][row];
        }
        for (int row = 2; row >= 0; row--) {
            double known = -0.0;
            for (int k = row + 1; k < 3; k++) known += low[k][row] * solution[k];
            solution[row] = (solution[row] - known) / low[row][row];
        }
        for (int row = 0; row < 3; row++) inverse[row][unit] = solution[row];
    }
    return 1;
}

static void times(double m[3][3], const double v[3], double out[3]) {
    for (int row = 0; row < 3; row++) {
        double sum = -0.0;
        for (int k = 0; k < 3; k++) sum += m[row > k ? row : k][row < k ? row : k] * v[k];
        out[row] = sum;
    }
}

// Normal equations at a circle; 0 if it passes a wire too far away.
static int equations(global const double *hits, ulong from, ulong to, const double at[3],
                     double matrix[3][3], double right[3], double *chi_square) {
    const double scales[3] = {1e-3, 1.0, 1.0};
    const double k = at[0], d0 = at[2];
    double sine, cosine;
    sincos_of(at[1], &sine, &cosine);
    for (int row = 0; row < 3; row++) {
        right[row] = 0.0;
        for (int column = 0; column < 3; column++) matrix[row][column] = 0.0;
    }
    *chi_square = 0.0;
    for (ulong hit = from; hit < to; hit++) {
        const double x = hits[3 * hit], y = hits[3 * hit + 1];
        const double u = x * cosine + y * sine, v = y * cosine - x * sine - d0;
        const double square = u * u + v * v, bent = 2.0 * v - k * square, under = 1.0 - k * bent;
        if (under <= 0.0) return 0;
        const double root = sqrt(under), distance = bent / (1.0 + root);
        const double residual = WEIGHT * (hits[3 * hit + 2] - distance);
        const double slopes[3] = {
            WEIGHT * scales[0] * ((distance * distance - square) / (2.0 * root)),
            WEIGHT * scales[1] * (-u * (1.0 + k * d0) / root),
            WEIGHT * scales[2] * (-(1.0 - k * v) / root),
        };
        for (int row = 0; row < 3; row++) {
            for (int column = 0; column <= row; column++) matrix[row][column] += slopes[row] * slopes[column];
            right[row] += slopes[row] * residual;
        }
        *chi_square += residual * residual;
    }
    return 1;
}

static int circle(global const double *hits, ulong from, ulong to, double at[3], double *chi_square) {
    const double scales[3] = {1e-3, 1.0, 1.0};
    double matrix[3][3], inverse[3][3], right[3], step[3], weighed[3];
    for (int turn = 0; turn < STEPS; turn++) {
        if (!equations(hits, from, to, at, matrix, right, chi_square) || !invert(matrix, inverse)) return 0;
        times(inverse, right, step);
        for (int k = 0; k < 3; k++) at[k] = at[k] + scales[k] * step[k];
        times(matrix, step, weighed);
        double worth = -0.0;
        for (int k = 0; k < 3; k++) worth += step[k] * weighed[k];
        if (worth < CONVERGED * CONVERGED)
            return equations(hits, from, to, at, matrix, right, chi_square) && invert(matrix, inverse);
    }
    return 0;
}

kernel void fit(global const double *hits, global const ulong *first, global const double *guess, global double *out, ulong n) {
    for (ulong track = get_global_id(0); track < n; track += get_global_size(0)) {
        double at[3] = {guess[3 * track], guess[3 * track + 1], guess[3 * track + 2]}, chi_square;
        const int found = circle(hits, first[track], first[track + 1], at, &chi_square);
        for (int k = 0; k < 3; k++) out[4 * track + k] = found ? at[k] : NAN;
        out[4 * track + 3] = found ? chi_square : NAN;
    }
}
