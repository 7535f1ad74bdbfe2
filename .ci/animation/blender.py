"""Plays an animation and a point cache of one of its meshes in Blender and compares them, vertex by vertex:

    pip install bpy==4.3.0 && python blender.py FILE.glb MESH FILE.pc2 FRAMES_PER_S TOLERANCE_M

Ends with 1 if Blender shows a vertex further from its place than the tolerance.
"""

import struct
import sys

import bpy
import mathutils

glb, name, cache, rate, tolerance = sys.argv[1:6]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = round(float(rate))
bpy.ops.import_scene.gltf(filepath=glb)
body = bpy.data.objects[name]

data = open(cache, "rb").read()
magic, version, count, start, sampling, frames = struct.unpack("<12siiffi", data[:32])
assert (magic, version, start, sampling) == (b"POINTCACHE2\0", 1, 0.0, 1.0)

# The same triangles without transform or shapes, moved by the cache alone.
mesh = bpy.data.meshes.new("cached")
faces = [tuple(p.vertices) for p in body.data.polygons]
mesh.from_pydata([tuple(v.co) for v in body.data.vertices], [], faces)
cached = bpy.data.objects.new("cached", mesh)
scene.collection.objects.link(cached)
modifier = cached.modifiers.new("cache", "MESH_CACHE")
modifier.cache_format, modifier.filepath, modifier.frame_start = "PC2", cache, 0


def furthest(shown, frame):
    """Largest distance of a vertex from its place in the file."""
    evaluated = shown.evaluated_get(bpy.context.evaluated_depsgraph_get())
    vertices = evaluated.to_mesh().vertices
    assert len(vertices) == count
    places = struct.iter_unpack("<3f", data[32 + 12 * count * frame : 32 + 12 * count * (frame + 1)])
    away = [(evaluated.matrix_world @ v.co - mathutils.Vector(p)).length for v, p in zip(vertices, places)]
    evaluated.to_mesh_clear()
    return max(away)


worst = [0.0, 0.0]
for frame in range(frames):
    scene.frame_set(frame)
    worst = [max(w, furthest(shown, frame)) for w, shown in zip(worst, (body, cached))]
print(f"{frames} frames: glTF within {worst[0]:.2e} m, point cache within {worst[1]:.2e} m")
sys.exit(0 if worst[0] <= float(tolerance) and worst[1] < 1e-6 else 1)
