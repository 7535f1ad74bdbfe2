"""Computes every reference and writes ../tests/data/accuracy.json; prints the convergence table of docs/accuracy.md.

python run.py            everything (the box takes most of the time)
python run.py cup bell   only these bodies; the rest of the file stays as it is
"""

import json
import pathlib
import re
import sys
import time

import numpy as np

import box
import ritz
from bodies import BODIES, STEEL
from revolution import Mesh, modes, patches, volume
from spectral import lowest_hz

OUTPUT = pathlib.Path(__file__).parent / "../tests/data/accuracy.json"
COUNT = 15
HARMONICS = 12
# (halvings, order) of the elements: h-refined, then p-refined; the box the other way round, its last mesh finer at inner edges.
LEVELS = [(0, 4), (1, 4), (1, 6)]
BOX_LEVELS = [(0, 4), (0, 5), (1, 3)]


def revolved(body):
    steps = []
    for level, order in LEVELS:
        mesh = Mesh(patches(body["shape"], level), order)
        steps.append((3 * len(mesh.points), modes(mesh, body["material"], COUNT, HARMONICS)))
    return steps, volume(mesh)


def boxed(body):
    steps = []
    for level, order in BOX_LEVELS:
        found, nodes = box.modes(body["shape"], body["material"], COUNT, level, order)
        steps.append((3 * nodes, found))
    outer = 1e-3 * np.array(body["shape"]["outer_mm"])
    return steps, float(outer.prod() - (outer - 2e-3 * body["shape"]["wall_mm"]).prod())


def reference(body):
    started = time.time()
    steps, cubic_metres = (boxed if body["shape"]["kind"] == "box" else revolved)(body)
    table = [np.array([f for f, _ in found]) for _, found in steps]
    changes = [float(100 * np.abs(a / b - 1).max()) for a, b in zip(table[:-1], table[1:])]
    row = " | ".join(f"{c:.3f} %" for c in changes)
    unknowns = ", ".join(f"{n}" for n, _ in steps)
    print(f"| {body['name']} | {unknowns} | {row} | {table[-1][0]:.1f} … {table[-1][-1]:.1f} |", f"<!-- {time.time() - started:.0f} s -->", flush=True)
    return dict(
        **body,
        volume_m3=cubic_metres,
        unknowns=[n for n, _ in steps],
        largest_change_percent=[round(c, 4) for c in changes],
        modes_hz=[round(float(f), 2) for f in table[-1]],
        kind_of_mode=[str(k) for _, k in steps[-1][1]],
    )


def checks():
    """The code against what is known in closed form: the torsional mode of a ball, and a cube's modes."""
    ball = Mesh(patches(dict(kind="ball", radius_mm=50), 0), 6)
    shear = np.sqrt(STEEL["young_pa"] / (2 * (1 + STEEL["poisson"])) / STEEL["density_kg_m3"])
    torsion = lowest_hz(*ball.matrices(STEEL, 0), 4, 3000.0)[2] * 2 * np.pi * 0.05 / shear
    assert abs(torsion - 2.5011) < 2e-4, torsion
    cube = ritz.brick([1, 1, 1], ritz.isotropic_solid(STEEL), STEEL["density_kg_m3"], (10, 10, 10), 8)
    assert np.allclose(cube, [1428.4] * 2 + [1922.2] * 3 + [1955.8] * 3, rtol=1e-4), cube


def rounded(x):
    if isinstance(x, dict):
        return {k: rounded(v) for k, v in x.items()}
    if isinstance(x, (list, tuple, np.ndarray)):
        return [rounded(v) for v in x]
    return round(float(x), 3) if isinstance(x, (float, np.floating)) else x


def more():
    """Wood, clamps and feet; the last row of every list of lists is the most refined."""
    return rounded(dict(
        spruce=ritz.SPRUCE,
        spruce_plate=dict(size_mm=[400, 200], thickness_mm=4, plane="LR", ritz_hz=[ritz.spruce_plate(n) for n in (12, 16, 20)]),
        spruce_bar=ritz.spruce_bar(),
        cantilever=ritz.cantilever(),
        plate_on_feet=dict(**ritz.FEET, ritz_hz=[ritz.plate_on_feet(n) for n in (22, 30, 38)]),
    ))


def main():
    wanted = sys.argv[1:]
    checks()
    old = json.loads(OUTPUT.read_text()) if OUTPUT.exists() else {"bodies": []}
    kept = {b["name"]: b for b in old["bodies"]}
    bodies = [reference(b) if not wanted or b["name"] in wanted else kept[b["name"]] for b in BODIES if not wanted or b["name"] in wanted or b["name"] in kept]
    text = json.dumps(dict(bodies=bodies, more=more()), indent=1)
    # Short lists on one line.
    text = re.sub(r"\[[^\[\]{}]*\]", lambda m: re.sub(r"\s+", " ", m.group(0)).replace("[ ", "[").replace(" ]", "]"), text)
    OUTPUT.write_text(text + "\n")


if __name__ == "__main__":
    main()
