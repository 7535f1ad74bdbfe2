"""The bodies: materials as in the engine's table, shapes in millimetres."""

STEEL = dict(name="steel", young_pa=200e9, poisson=0.29, density_kg_m3=7850.0)
GLASS = dict(name="glass", young_pa=65e9, poisson=0.22, density_kg_m3=2500.0)
ALUMINIUM = dict(name="aluminium", young_pa=70e9, poisson=0.33, density_kg_m3=2700.0)
BRONZE = dict(name="bronze", young_pa=110e9, poisson=0.34, density_kg_m3=8600.0)

BODIES = [
    dict(name="tube", material=STEEL, shape=dict(kind="tube", middle_radius_mm=30, thickness_mm=2, length_mm=120)),
    dict(name="hemisphere", material=STEEL, shape=dict(kind="hemisphere", middle_radius_mm=60, thickness_mm=2)),
    dict(name="cup", material=GLASS, shape=dict(kind="vessel", outer_radius_mm=36, height_mm=100, wall_mm=2, base_mm=2)),
    dict(name="pan", material=ALUMINIUM, shape=dict(kind="vessel", outer_radius_mm=120, height_mm=50, wall_mm=3, base_mm=3)),
    dict(
        name="bell",
        material=BRONZE,
        shape=dict(
            kind="bezier",
            outer_mm=[[0, 80], [20, 80], [34, 78], [22, 50], [28, 25], [36, 12], [45, 0]],
            thickness_mm=[3.5, 2.2, 1.8, 10, 3],
            side=1,
        ),
    ),
    dict(
        name="wine bowl",
        material=GLASS,
        shape=dict(
            kind="bezier",
            outer_mm=[[0, 0], [28, 0], [50, 20], [46, 55], [36, 75], [32, 90]],
            thickness_mm=[1.5],
            side=-1,
        ),
    ),
    dict(name="box", material=STEEL, shape=dict(kind="box", outer_mm=[100, 70, 50], wall_mm=2)),
]
