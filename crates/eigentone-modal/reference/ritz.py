"""Wood, clamps and point feet: Legendre-Ritz solutions of plates, beams and bricks, and closed forms beside them."""

import numpy as np
import scipy.linalg as sl
from numpy.polynomial import legendre
from scipy.optimize import brentq

EL = 11e9
SPRUCE = dict(
    el_pa=EL, er_pa=0.078 * EL, et_pa=0.043 * EL, glr_pa=0.064 * EL, glt_pa=0.061 * EL, grt_pa=0.003 * EL,
    nu_lr=0.372, nu_lt=0.467, nu_rt=0.435, density_kg_m3=420.0,
)
STEEL = dict(young_pa=200e9, poisson=0.29, density_kg_m3=7850.0)


def polynomials(n, points, clamped=False):
    """Values, slopes and second slopes of n polynomials on [-1, 1]; clamped ones vanish at -1."""
    factor = np.array([1.0, 1.0]) if clamped else np.array([1.0])
    rows = [legendre.legmul(np.eye(n)[k], factor) for k in range(n)]
    return [np.stack([legendre.legval(points, legendre.legder(r, d) if d else r) for r in rows]) for d in range(3)]


def integrals(n, clamped=False):
    """I[d, e][i, j] = integral of the d-th slope of polynomial i times the e-th of j."""
    x, w = legendre.leggauss(n + 6)
    P = polynomials(n, x, clamped)
    return {(d, e): (P[d] * w) @ P[e].T for d in range(3) for e in range(3)}


def frequencies(K, M, count, rigid):
    """The lowest frequencies in hertz, without the rigid motions."""
    values = sl.eigh(K, M, eigvals_only=True, subset_by_index=[0, rigid + count - 1])
    return np.sqrt(np.abs(values[rigid:])) / (2 * np.pi)


def plate_matrices(a, b, t, density, C, n):
    """Kirchhoff plate a x b: bending stiffness C t^3/12 (C is 3 x 3 plane stress) over n x n products of polynomials."""
    D, I, sx, sy, k = C * t**3 / 12, integrals(n), 2 / a, 2 / b, np.kron
    K = D[0, 0] * sx**4 * k(I[2, 2], I[0, 0]) + D[1, 1] * sy**4 * k(I[0, 0], I[2, 2])
    K += D[0, 1] * sx**2 * sy**2 * (k(I[2, 0], I[0, 2]) + k(I[0, 2], I[2, 0])) + 4 * D[2, 2] * sx**2 * sy**2 * k(I[1, 1], I[1, 1])
    area = a * b / 4
    return area * K, area * density * t * k(I[0, 0], I[0, 0])


def orthotropic_plane(e1, e2, nu12, g12):
    """Plane stress, grain along 1."""
    d = 1 - nu12**2 * e2 / e1
    return np.array([[e1 / d, nu12 * e2 / d, 0], [nu12 * e2 / d, e2 / d, 0], [0, 0, g12]])


def spruce_plate(n, count=12):
    """Free plate 0.4 x 0.2 m, 4 mm, grain along x, in the plane of L and R."""
    s = SPRUCE
    C = orthotropic_plane(s["el_pa"], s["er_pa"], s["nu_lr"], s["glr_pa"])
    return frequencies(*plate_matrices(0.4, 0.2, 0.004, s["density_kg_m3"], C, n), count, 3)


FEET = dict(size_mm=[300, 200], thickness_mm=3, feet_mm=[[20, 20], [280, 20], [150, 180]])


def plate_on_feet(n, count=12):
    """A steel plate held at three points (no motion across the plate there, free to turn); exact constraints by their null space."""
    nu, E = STEEL["poisson"], STEEL["young_pa"]
    C = orthotropic_plane(E, E, nu, E / (2 * (1 + nu)))
    a, b = (1e-3 * x for x in FEET["size_mm"])
    K, M = plate_matrices(a, b, 1e-3 * FEET["thickness_mm"], STEEL["density_kg_m3"], C, n)
    rows = []
    for x, y in FEET["feet_mm"]:
        px = polynomials(n, np.array([2e-3 * x / a - 1]))[0][:, 0]
        py = polynomials(n, np.array([2e-3 * y / b - 1]))[0][:, 0]
        rows.append(np.kron(px, py))
    Z = sl.null_space(np.array(rows))
    return frequencies(Z.T @ K @ Z, Z.T @ M @ Z, count, 0)


def timoshenko(length, height, E, G, density, count, clamped, n=40, kappa=5 / 6):
    """Timoshenko beam of rectangular section: deflection and turn in n polynomials each; free at both ends, or clamped at one."""
    I, J, A = integrals(n, clamped), height**3 / 12, height
    h, s = length / 2, 2 / length
    shear = kappa * G * A * h
    Kww, Kwp, Kpp = shear * s**2 * I[1, 1], -shear * s * I[1, 0], shear * I[0, 0] + E * J * h * s**2 * I[1, 1]
    Z = np.zeros_like(Kww)
    K = np.block([[Kww, Kwp], [Kwp.T, Kpp]])
    M = density * h * np.block([[A * I[0, 0], Z], [Z, J * I[0, 0]]])
    return frequencies(K, M, count, 0 if clamped else 2)


def euler(length, height, E, density, count, clamped):
    """Euler-Bernoulli: cos b cosh b = 1 (free) or -1 (clamped at one end)."""
    sign = -1.0 if clamped else 1.0
    f = lambda b: np.cos(b) - sign / np.cosh(b)
    roots, low = [], 0.5 if clamped else 3.0
    while len(roots) < count:
        if f(low) * f(low + 0.1) < 0:
            roots.append(brentq(f, low, low + 0.1, xtol=1e-13))
        low += 0.1
    return np.array(roots) ** 2 * np.sqrt(E * height**2 / (12 * density)) / (2 * np.pi * length**2)


def orthotropic_solid(s):
    """6 x 6 stiffness for axes L, R, T: normal strains, then shears RT, LT, LR."""
    compliance = np.array([
        [1 / s["el_pa"], -s["nu_lr"] / s["el_pa"], -s["nu_lt"] / s["el_pa"]],
        [-s["nu_lr"] / s["el_pa"], 1 / s["er_pa"], -s["nu_rt"] / s["er_pa"]],
        [-s["nu_lt"] / s["el_pa"], -s["nu_rt"] / s["er_pa"], 1 / s["et_pa"]],
    ])
    C = np.zeros((6, 6))
    C[:3, :3] = np.linalg.inv(compliance)
    C[3, 3], C[4, 4], C[5, 5] = s["grt_pa"], s["glt_pa"], s["glr_pa"]
    assert np.linalg.eigvalsh(C).min() > 0
    return C


def isotropic_solid(m):
    """The same layout for an isotropic material."""
    lam = m["young_pa"] * m["poisson"] / ((1 + m["poisson"]) * (1 - 2 * m["poisson"]))
    mu = m["young_pa"] / (2 * (1 + m["poisson"]))
    C = np.diag([2 * mu] * 3 + [mu] * 3)
    C[:3, :3] += lam
    return C


def brick(size, C, density, degrees, count, clamped=False):
    """Solid brick, all motions: products of polynomials in x, y, z, split by parity across y and z. Clamped at x = 0, or free.

    Strain e = sum over a of G[a] du/dx_a; the shears are ordered yz, xz, xy.
    """
    G = np.zeros((3, 6, 3))
    for a in range(3):
        G[a, a, a] = 1
    for row, (a, b) in zip((3, 4, 5), ((1, 2), (0, 2), (0, 1))):
        G[a, row, b] = G[b, row, a] = 1
    Is = [integrals(n, clamped and axis == 0) for axis, n in enumerate(degrees)]
    scale = [2 / x for x in size]
    found = []
    for parity in ((0, 0), (0, 1), (1, 0), (1, 1)):
        # Component c is even or odd across y and z; u_y turns over with y's parity and so on.
        sets = []
        for c in range(3):
            rows = [np.arange(degrees[0])]
            for axis in (1, 2):
                odd = parity[axis - 1] ^ (c == axis)
                rows.append(np.arange(odd, degrees[axis], 2))
            sets.append(rows)
        pick = lambda c, e, axis, d, f: Is[axis][d, f][np.ix_(sets[c][axis], sets[e][axis])]
        K, M = [], []
        for c in range(3):
            K.append([]), M.append([])
            for e in range(3):
                block = 0
                for a in range(3):
                    for b in range(3):
                        stiff = G[a, :, c] @ C @ G[b, :, e]
                        parts = [pick(c, e, axis, int(a == axis), int(b == axis)) for axis in range(3)]
                        block = block + stiff * scale[a] * scale[b] * np.kron(np.kron(parts[0], parts[1]), parts[2])
                K[c].append(block)
                parts = [pick(c, e, axis, 0, 0) for axis in range(3)]
                M[c].append(density * (c == e) * np.kron(np.kron(parts[0], parts[1]), parts[2]))
        f = frequencies(np.block(K), np.block(M), count + 3, 0)
        found += list(f[f > 1.0])
    return np.sort(found)[:count]


SPRUCE_BAR_MM = [400, 40, 20]
CANTILEVER_MM = [200, 20, 10]


def spruce_bar():
    """Free spruce bar along the grain, width along R and height along T: bending across T by Timoshenko with E_L and G_LT; all modes as a solid."""
    s, size = SPRUCE, [1e-3 * x for x in SPRUCE_BAR_MM]
    return dict(
        size_mm=SPRUCE_BAR_MM,
        euler_hz=list(euler(size[0], size[2], s["el_pa"], s["density_kg_m3"], 5, False)),
        timoshenko_height_hz=list(timoshenko(size[0], size[2], s["el_pa"], s["glt_pa"], s["density_kg_m3"], 5, False)),
        timoshenko_width_hz=list(timoshenko(size[0], size[1], s["el_pa"], s["glr_pa"], s["density_kg_m3"], 5, False)),
        solid_hz=[list(brick(size, orthotropic_solid(s), s["density_kg_m3"], d, 15)) for d in ((14, 6, 5), (18, 8, 6), (22, 10, 8))],
    )


def cantilever():
    """Steel bar clamped at one end."""
    m, size = STEEL, [1e-3 * x for x in CANTILEVER_MM]
    G = m["young_pa"] / (2 * (1 + m["poisson"]))
    return dict(
        size_mm=CANTILEVER_MM,
        euler_hz=list(euler(size[0], size[2], m["young_pa"], m["density_kg_m3"], 5, True)),
        timoshenko_height_hz=list(timoshenko(size[0], size[2], m["young_pa"], G, m["density_kg_m3"], 5, True)),
        timoshenko_width_hz=list(timoshenko(size[0], size[1], m["young_pa"], G, m["density_kg_m3"], 5, True)),
        solid_hz=[list(brick(size, isotropic_solid(m), m["density_kg_m3"], d, 12, True)) for d in ((16, 6, 5), (20, 8, 7), (24, 10, 9))],
    )
