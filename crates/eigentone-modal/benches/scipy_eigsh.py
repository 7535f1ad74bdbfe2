"""The independent side of the eigen bench: scipy's shift-invert Lanczos (ARPACK with SuperLU).

Usage: scipy_eigsh.py FOLDER COUNT. Prints CPU seconds and the COUNT lowest eigenvalues.
"""
import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

folder, count = sys.argv[1], int(sys.argv[2])
rows = np.fromfile(f"{folder}/rows", "<u4").astype(np.int64)
columns = np.fromfile(f"{folder}/columns", "<u4").astype(np.int64)
stiffness = sp.csc_matrix((np.fromfile(f"{folder}/stiffness", "<f8"), (rows, columns)))
mass = sp.csc_matrix((np.fromfile(f"{folder}/mass", "<f8"), (rows, columns)))
mass.eliminate_zeros()
start = time.process_time()
# A little below zero, so that the shifted matrix is definite although the body is free.
values = eigsh(stiffness, k=count, M=mass, sigma=-((2 * np.pi * 300.0) ** 2), which="LM", return_eigenvectors=True)[0]
print(time.process_time() - start)
print(*np.sort(values))
