// The same picture without a graphics card: scenery before what moves, far sides before near ones, triangles from back to front.

class FlatPicture {
  constructor(canvas, meshes, ground, camera) {
    Object.assign(this, { canvas, camera, context: canvas.getContext("2d"), meshes: meshes.map(m => ({ ...m })) });
    this.lines = gridLines(camera, ground);
  }

  show(number, { low, size, shares }) {
    const mesh = this.meshes[number];
    mesh.places = Float32Array.from(shares, (s, i) => low[i % 3] + size[i % 3] * s / 65535);
  }

  draw(dark) {
    const { canvas, context, camera } = this, { width, height } = canvas;
    const { x, y, z, eye } = camera.axes(), scale = Math.min(width, height) / 2 / Math.tan(0.35);
    const near = camera.distance / 50;
    const project = p => {
      const d = minus(p, eye), depth = -dot(d, z);
      return { depth, at: [width / 2 + scale * dot(d, x) / depth, height / 2 - scale * dot(d, y) / depth] };
    };
    context.fillStyle = dark ? "#22262d" : "#e6e9ef";
    context.fillRect(0, 0, width, height);
    context.strokeStyle = dark ? "#fff2" : "#0003";
    context.beginPath();
    for (let i = 0; i < this.lines.length; i += 6) {
      const a = project(this.lines.subarray(i, i + 3)), b = project(this.lines.subarray(i + 3, i + 6));
      if (a.depth > near && b.depth > near) { context.moveTo(...a.at); context.lineTo(...b.at); }
    }
    context.stroke();
    const faces = [];
    for (const { places, corners, color, moves } of this.meshes) {
      for (let t = 0; t < corners.length; t += 3) {
        const p = [0, 1, 2].map(k => places.subarray(3 * corners[t + k], 3 * corners[t + k] + 3));
        const seen = p.map(project);
        if (seen.some(s => s.depth <= near)) continue;
        let n = unit(cross(minus(p[1], p[0]), minus(p[2], p[0])));
        const facing = dot(n, minus(p[0], eye)) < 0;
        if (!facing) n = n.map(v => -v);
        const amount = 0.28 + 0.14 * n[2] + 0.75 * Math.max(dot(n, LIGHT), 0);
        const rgb = color.map(c => Math.round(255 * Math.min(c * amount, 1) ** (1 / 2.2)));
        const depth = seen[0].depth + seen[1].depth + seen[2].depth;
        faces.push({ layer: 2 * moves + facing, depth, seen, fill: `rgb(${rgb})` });
      }
    }
    faces.sort((a, b) => a.layer - b.layer || b.depth - a.depth);
    for (const { seen, fill } of faces) {
      context.fillStyle = context.strokeStyle = fill;
      context.beginPath();
      seen.forEach((s, k) => k ? context.lineTo(...s.at) : context.moveTo(...s.at));
      context.closePath();
      context.fill();
      context.stroke();
    }
  }
}
