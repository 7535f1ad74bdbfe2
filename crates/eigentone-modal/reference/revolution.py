"""Solids of revolution: spectral quadrilaterals in (r, z), one Fourier harmonic n at a time.

u_r = U(r, z) cos n theta, u_theta = V(r, z) sin n theta, u_z = W(r, z) cos n theta. Nothing is assumed thin.
"""

import numpy as np
import scipy.sparse as sp

from spectral import assemble, isotropic, lagrange, lobatto, lowest_hz

RIGID_HZ = 10.0
ON_AXIS_M = 1e-9


def graded(parts):
    """Grid lines through a list of (from, to, cells)."""
    lines = [np.linspace(a, b, n + 1)[:-1] for a, b, n in parts]
    return np.concatenate(lines + [[parts[-1][1]]])


class Mesh:
    """Elements of order p over patches (map, lines in a, lines in b); nodes at the same place are one."""

    def __init__(self, patches, p):
        unit, index, elements = (lobatto(p) + 1) / 2, {}, []
        self.p, points = p, []
        for shape, lines_a, lines_b in patches:
            for a0, a1 in zip(lines_a[:-1], lines_a[1:]):
                for b0, b1 in zip(lines_b[:-1], lines_b[1:]):
                    element = []
                    for s in unit:
                        for t in unit:
                            r, z = shape(a0 + (a1 - a0) * s, b0 + (b1 - b0) * t)
                            key = (round(r * 1e9), round(z * 1e9))
                            if key not in index:
                                index[key] = len(points)
                                points.append((r, z))
                            element.append(index[key])
                    elements.append(element)
        self.points, self.elements = np.array(points), np.array(elements)

    def matrices(self, material, n):
        """Stiffness and mass of harmonic n, with the conditions that make the field smooth on the axis."""
        _, w, value, slope = lagrange(self.p)
        weight = np.outer(w, w).ravel()
        N = np.einsum("ai,bj->abij", value, value).reshape(len(weight), -1)
        D = np.stack([np.einsum("ai,bj->abij", f, g).reshape(len(weight), -1) for f, g in ((slope, value), (value, slope))], 1)
        X = self.points[self.elements]
        jacobian = np.einsum("qdn,enk->eqdk", D, X)
        g = np.einsum("eqkd,qdn->eqkn", np.linalg.inv(jacobian), D)
        r = np.einsum("qn,en->eq", N, X[:, :, 0])
        scale = np.abs(np.linalg.det(jacobian)) * weight * r
        over_r = N[None] / r[:, :, None]
        E, Q, nn = over_r.shape
        B = np.zeros((E, Q, 6, nn, 3))
        B[:, :, 0, :, 0] = g[:, :, 0]
        B[:, :, 1, :, 0], B[:, :, 1, :, 1] = over_r, n * over_r
        B[:, :, 2, :, 2] = g[:, :, 1]
        B[:, :, 3, :, 0], B[:, :, 3, :, 2] = g[:, :, 1], g[:, :, 0]
        B[:, :, 4, :, 0], B[:, :, 4, :, 1] = -n * over_r, g[:, :, 0] - over_r
        B[:, :, 5, :, 1], B[:, :, 5, :, 2] = g[:, :, 1], -n * over_r
        B = B.reshape(E, Q, 6, 3 * nn)
        C = isotropic(material["young_pa"], material["poisson"])
        CB = np.einsum("st,eqtj->eqsj", C, B) * scale[:, :, None, None]
        K = np.stack([b.reshape(-1, 3 * nn).T @ cb.reshape(-1, 3 * nn) for b, cb in zip(B, CB)])
        m = material["density_kg_m3"] * np.stack([(N * s[:, None]).T @ N for s in scale])
        M = np.einsum("eij,kl->eikjl", m, np.eye(3)).reshape(E, 3 * nn, 3 * nn)
        dofs = (3 * self.elements[:, :, None] + np.arange(3)).reshape(E, -1)
        size = 3 * len(self.points)
        basis = self.on_axis(n, size)
        return [basis.T @ assemble(x, dofs, size) @ basis for x in (K, M)]

    def on_axis(self, n, size):
        """Columns of the unknowns that remain. On the axis: n = 0 only u_z, n = 1 a push sideways (u_r = -u_theta), else nothing."""
        axis = self.points[:, 0] < ON_AXIS_M
        keep, tied = np.repeat(~axis, 3), np.flatnonzero(axis)
        if n == 0:
            keep[3 * tied + 2] = True
        if n == 1:
            keep[3 * tied] = True
        basis = sp.identity(size, format="lil")
        if n == 1:
            for k in tied:
                basis[3 * k + 1, 3 * k] = -1.0
        return basis.tocsc()[:, np.flatnonzero(keep)]


def modes(mesh, material, count, harmonics, per_harmonic=8):
    """The lowest elastic modes as rising (f, n), n >= 1 twice, and a proof that no higher harmonic was missed."""
    found, lowest = [], []
    for n in range(harmonics + 1):
        f = lowest_hz(*mesh.matrices(material, n), per_harmonic + 2)
        rigid = int((f < RIGID_HZ).sum())
        assert rigid == (2 if n < 2 else 0), (n, f)
        lowest.append(f[rigid])
        found += [(x, n) for x in f[rigid:] for _ in range(1 if n == 0 else 2)]
        complete = f[-1]
        found.append((complete, -1))
    found.sort()
    result = found[:count]
    assert all(n >= 0 for _, n in result), "ask for more modes per harmonic"
    assert lowest[-1] > result[-1][0] and lowest[-1] > lowest[-2], "ask for more harmonics"
    return result


def bernstein(control, s):
    """A Bezier curve (rows of control) and its slope at s, by de Casteljau."""
    c = np.array(control, float)
    if len(c) == 1:
        return c[0], 0.0 * c[0]
    while len(c) > 2:
        c = (1 - s) * c[:-1] + s * c[1:]
    return (1 - s) * c[0] + s * c[1], (len(control) - 1) * (c[1] - c[0])


def bezier_wall(shape):
    """(depth 0 outside .. 1 inside, s) -> (r, z) of a wall whose thickness is measured along the outer skin's normal."""

    def place(depth, s):
        point, slope = bernstein(shape["outer_mm"], s)
        thickness = bernstein([[t] for t in shape["thickness_mm"]], s)[0][0]
        normal = shape["side"] * np.array([-slope[1], slope[0]]) / np.hypot(*slope)
        r, z = (point - depth * thickness * normal) * 1e-3
        return max(r, 0.0), z

    return place


def patches(shape, level):
    """Patches of a body; level doubles the elements. Elements shrink toward inner corners."""
    k, mm = 2**level, 1e-3
    if shape["kind"] == "tube":
        r, t, length = (shape[x] * mm for x in ("middle_radius_mm", "thickness_mm", "length_mm"))
        lines = graded([(0, 2 * t, k), (2 * t, length - 2 * t, 5 * k), (length - 2 * t, length, k)])
        return [(lambda a, b: (a, b), graded([(r - t / 2, r + t / 2, 1)]), lines)]
    if shape["kind"] == "hemisphere":
        r, t = shape["middle_radius_mm"] * mm, shape["thickness_mm"] * mm
        polar = lambda a, b: (a * np.sin(b) if b > 0 else 0.0, a * np.cos(b))
        return [(polar, graded([(r - t / 2, r + t / 2, 1)]), graded([(0, 1.5, 6 * k), (1.5, np.pi / 2, k)]))]
    if shape["kind"] == "bezier":
        return [(bezier_wall(shape), graded([(0, 1, 1)]), graded([(0, 0.94, 7 * k), (0.94, 1, k)]))]
    if shape["kind"] == "vessel":
        r, h, t, base = (shape[x] * mm for x in ("outer_radius_mm", "height_mm", "wall_mm", "base_mm"))
        same, inner = (lambda a, b: (a, b)), r - t
        near, close = t / 4, t / 16
        across = graded([(0, inner - 2 * t, 4 * k), (inner - 2 * t, inner - near, 2 * k), (inner - near, inner - close, 1), (inner - close, inner, 1)])
        through = graded([(0, base - near, 1), (base - near, base - close, 1), (base - close, base, 1)])
        wall = graded([(inner, inner + close, 1), (inner + close, inner + near, 1), (inner + near, r, 1)])
        up = graded([(base, base + close, 1), (base + close, base + near, 1), (base + near, base + 2 * t, 2 * k)])
        up = np.concatenate([up, graded([(base + 2 * t, h - 2 * t, 5 * k), (h - 2 * t, h, k)])[1:]])
        return [(same, across, through), (same, wall, through), (same, wall, up)]
    if shape["kind"] == "ball":
        polar = lambda a, b: (a * np.sin(b) if 0 < b < np.pi else 0.0, a * np.cos(b))
        return [(polar, graded([(0, shape["radius_mm"] * mm, 2 * k)]), graded([(0, np.pi, 4 * k)]))]
    raise ValueError(shape["kind"])


def volume(mesh):
    """Volume in cubic metres, from the mesh itself."""
    _, w, value, slope = lagrange(mesh.p)
    weight = np.outer(w, w).ravel()
    N = np.einsum("ai,bj->abij", value, value).reshape(len(weight), -1)
    D = np.stack([np.einsum("ai,bj->abij", f, g).reshape(len(weight), -1) for f, g in ((slope, value), (value, slope))], 1)
    X = mesh.points[mesh.elements]
    det = np.abs(np.linalg.det(np.einsum("qdn,enk->eqdk", D, X)))
    return float(2 * np.pi * (det * weight * np.einsum("qn,en->eq", N, X[:, :, 0])).sum())
