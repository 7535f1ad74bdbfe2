"""Spectral elements shared by the reference solutions: Gauss-Lobatto nodes, Gauss quadrature, sparse eigenvalues."""

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import legendre
from scipy.sparse.linalg import LinearOperator, eigsh, splu


def lobatto(p):
    """The p + 1 Gauss-Lobatto-Legendre points of [-1, 1]."""
    inner = legendre.legroots(legendre.legder(np.eye(p + 1)[p]))
    return np.concatenate([[-1.0], inner, [1.0]])


def lagrange(p):
    """Gauss points, weights, and values and slopes of the Lagrange polynomials over the Lobatto points at them."""
    nodes, (x, w) = lobatto(p), legendre.leggauss(p + 2)
    to_nodal = np.linalg.inv(legendre.legvander(nodes, p))
    slopes = np.stack([legendre.legval(x, legendre.legder(np.eye(p + 1)[k])) for k in range(p + 1)], 1)
    return x, w, legendre.legvander(x, p) @ to_nodal, slopes @ to_nodal


def isotropic(young_pa, poisson):
    """6 x 6 stiffness: three normal strains, then three engineering shears."""
    lam = young_pa * poisson / ((1 + poisson) * (1 - 2 * poisson))
    mu = young_pa / (2 * (1 + poisson))
    c = np.diag([2 * mu] * 3 + [mu] * 3)
    c[:3, :3] += lam
    return c


def assemble(blocks, dofs, size):
    """Sum of dense element matrices, blocks[e] at the unknowns dofs[e]."""
    count, width = dofs.shape
    rows = np.repeat(dofs, width, axis=1).ravel()
    columns = np.tile(dofs, (1, width)).ravel()
    return sp.csc_matrix((blocks.reshape(count, -1).ravel(), (rows, columns)), (size, size))


def inverse(matrix):
    """Applies the inverse of a symmetric matrix. PARDISO, if it is installed, is about ten times as fast as SuperLU on the box."""
    try:
        from pypardiso import PyPardisoSolver
    except ImportError:
        factor = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        return factor.solve
    # Positive definite, of which PARDISO wants the upper triangle.
    upper, solver = sp.triu(matrix, format="csr"), PyPardisoSolver(mtype=2)
    solver.factorize(upper)
    return lambda b: solver.solve(upper, np.asarray(b, float))


def lowest_hz(stiffness, mass, count, shift_hz=300.0):
    """The lowest frequencies of K v = (2 pi f)^2 M v. The shift lies below zero, so rigid motions do no harm."""
    sigma = -((2 * np.pi * shift_hz) ** 2)
    solve = LinearOperator(stiffness.shape, inverse(stiffness - sigma * mass))
    values = eigsh(stiffness, count, M=mass, sigma=sigma, OPinv=solve, return_eigenvectors=False)
    return np.sqrt(np.abs(np.sort(values))) / (2 * np.pi)
