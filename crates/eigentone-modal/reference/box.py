"""A closed hollow box: spectral hexahedra in one octant of its walls, for each of the eight parities about the middle planes."""

import itertools

import numpy as np

from revolution import RIGID_HZ
from spectral import assemble, isotropic, lagrange, lobatto, lowest_hz


def lines(half, wall, level):
    """Grid lines from the middle plane to the outside, finer toward the inner edge, and the index of the inner skin."""
    inner = half - wall
    if level == 0:
        grid = np.concatenate([np.linspace(0, inner - wall, 4), [inner, half]])
    else:
        grid = np.concatenate([np.linspace(0, inner - wall, 5), [inner - 0.2 * wall, inner, inner + 0.2 * wall, half]])
    return grid, int(np.flatnonzero(grid == inner)[0])


class Octant:
    """Elements of order p over the cells that lie in a wall. All cells are bricks, so element matrices are Kronecker products."""

    def __init__(self, shape, level, p):
        axes = [lines(0.5e-3 * d, 1e-3 * shape["wall_mm"], level) for d in shape["outer_mm"]]
        grids, inner = [a[0] for a in axes], [a[1] for a in axes]
        self.p = p
        counts = [len(g) - 1 for g in grids]
        stride = [p * c + 1 for c in counts]
        cells = [c for c in itertools.product(*map(range, counts)) if any(i >= k for i, k in zip(c, inner))]
        self.sizes = np.array([[g[i + 1] - g[i] for g, i in zip(grids, c)] for c in cells])
        local = np.array(list(itertools.product(range(p + 1), repeat=3)))
        places = p * np.array(cells)[:, None] + local[None]
        flat = (places[..., 0] * stride[1] + places[..., 1]) * stride[2] + places[..., 2]
        used, self.elements = np.unique(flat, return_inverse=True)
        self.elements = self.elements.reshape(flat.shape)
        self.on_plane = [np.unravel_index(used, stride)[axis] == 0 for axis in range(3)]
        self.nodes = len(used)

    def matrices(self, material):
        """Stiffness and mass without any condition on the middle planes."""
        _, w, value, slope = lagrange(self.p)
        one = {(0, 0): value, (1, 1): slope}
        table = {(d, e): np.einsum("q,qi,qj->ij", w, one[d, d], one[e, e]) for d in (0, 1) for e in (0, 1)}
        nn = (self.p + 1) ** 3
        products = {}
        for d in range(3):
            for e in range(3):
                parts = [table[int(d == axis), int(e == axis)] for axis in range(3)]
                products[d, e] = np.kron(np.kron(parts[0], parts[1]), parts[2])
        mass = np.kron(np.kron(table[0, 0], table[0, 0]), table[0, 0])
        C = isotropic(material["young_pa"], material["poisson"])
        lam, mu = C[0, 1], C[3, 3]
        count = len(self.sizes)
        K, M = np.zeros((count, nn, 3, nn, 3)), np.zeros((count, nn, 3, nn, 3))
        for e, size in enumerate(self.sizes):
            volume = size.prod() / 8
            G = {(d, f): products[d, f] * volume * 4 / (size[d] * size[f]) for d in range(3) for f in range(3)}
            for a in range(3):
                for b in range(3):
                    K[e, :, a, :, b] = lam * G[a, b] + mu * G[b, a]
                    if a == b:
                        K[e, :, a, :, b] += mu * (G[0, 0] + G[1, 1] + G[2, 2])
                M[e, :, a, :, a] = material["density_kg_m3"] * volume * mass
        dofs = (3 * self.elements[:, :, None] + np.arange(3)).reshape(count, -1)
        return [assemble(x.reshape(count, 3 * nn, 3 * nn), dofs, 3 * self.nodes) for x in (K, M)]

    def kept(self, parity):
        """Unknowns that need not vanish: about a mirror plane u is even along it and odd across, or the other way round."""
        keep = np.ones((self.nodes, 3), bool)
        for axis, mirrored in enumerate(parity):
            for component in range(3):
                if (component == axis) == mirrored:
                    keep[self.on_plane[axis], component] = False
        return np.flatnonzero(keep.ravel())


def modes(shape, material, count, level, p, per_class=8):
    """The lowest elastic modes as rising (f, parity), and the number of nodes of the octant."""
    octant = Octant(shape, level, p)
    K, M = octant.matrices(material)
    found, rigid = [], 0
    for parity in itertools.product((True, False), repeat=3):
        keep = octant.kept(parity)
        f = lowest_hz(K[keep][:, keep], M[keep][:, keep], per_class)
        rigid += int((f < RIGID_HZ).sum())
        found += [(x, "".join("+-"[not s] for s in parity)) for x in f if x >= RIGID_HZ]
        found.append((f[-1], "end"))
    assert rigid == 6, rigid
    found.sort()
    assert all(c != "end" for _, c in found[:count]), "ask for more modes per class"
    return found[:count], octant.nodes
