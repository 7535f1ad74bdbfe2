// The picture: meshes, their shadows and a grid, seen by a camera that turns around the scene. z is up.

/** Bytes of Base64. */
function bytesOf(text) {
  const plain = atob(text), bytes = new Uint8Array(plain.length);
  for (let i = 0; i < plain.length; i++) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

/** The box and the positions that begin at a byte: shares of the box as 16-bit numbers. */
function positionsAt(bytes, at, vertices) {
  const data = new DataView(bytes.buffer, bytes.byteOffset);
  const float = k => data.getFloat32(at + 4 * k, true);
  return {
    low: [float(0), float(1), float(2)],
    size: [float(3), float(4), float(5)],
    shares: new Uint16Array(bytes.buffer, bytes.byteOffset + at + 24, 3 * vertices),
  };
}

const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => { const n = Math.hypot(...a) || 1; return a.map(x => x / n); };

/** Looks at the middle of what moves from a little above. */
class Camera {
  constructor(low, high) {
    this.middle = low.map((x, k) => (x + high[k]) / 2);
    this.radius = Math.max(Math.hypot(...minus(high, low)) / 2, 1e-3);
    this.reset();
  }

  reset() {
    Object.assign(this, { yaw: -1.1, pitch: 0.3, distance: 3.2 * this.radius, target: [...this.middle] });
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.min(Math.max(this.pitch + pitch, -1.5), 1.5);
  }

  zoom(factor) {
    this.distance = Math.min(Math.max(this.distance * factor, 0.1 * this.radius), 40 * this.radius);
  }

  pan(right, up) {
    const { x, y } = this.axes(), scale = this.distance * 0.8;
    this.target = this.target.map((t, k) => t - scale * (right * x[k] + up * y[k]));
  }

  /** Right, up and backwards of the camera, and where it is. */
  axes() {
    const c = Math.cos(this.pitch);
    const z = [c * Math.cos(this.yaw), c * Math.sin(this.yaw), Math.sin(this.pitch)];
    const x = unit(cross([0, 0, 1], z)), y = cross(z, x);
    return { x, y, z, eye: this.target.map((t, k) => t + this.distance * z[k]) };
  }

  view() {
    const { x, y, z, eye } = this.axes();
    return [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1];
  }

  projection(aspect) {
    // The narrower side shows 40 degrees.
    const f = 1 / Math.tan(0.35) * Math.min(1, aspect), near = this.distance / 50, far = this.distance * 4 + 60 * this.radius;
    return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0];
  }
}

/** Where light comes from. */
const LIGHT = unit([0.35, -0.45, 1]);

/** Lines of a grid with steps of 1, 2 or 5 times a power of ten. Cell by cell, so that what is behind the camera can be left out. */
function gridLines(camera, height) {
  const rough = camera.radius / 2.5, ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * [1, 2, 5, 10].find(m => m * ten >= rough), lines = [], half = 12;
  const [cx, cy] = camera.middle.map(x => step * Math.round(x / step));
  for (let i = -half; i <= half; i++) {
    for (let k = -half; k < half; k++) {
      const [across, from, to] = [i, k, k + 1].map(n => n * step);
      lines.push(cx + across, cy + from, height, cx + across, cy + to, height);
      lines.push(cx + from, cy + across, height, cx + to, cy + across, height);
    }
  }
  return new Float32Array(lines);
}

const VERTEX = `#version 300 es
in vec3 share;
uniform vec3 low, size, light;
uniform mat4 view, projection;
uniform float ground, shadow;
out vec3 place;
void main() {
  vec3 p = low + size * share;
  vec3 below = vec3(p.xy - light.xy * (p.z - ground) / light.z, ground);
  vec4 seen = view * vec4(mix(p, below, shadow), 1.0);
  place = seen.xyz;
  gl_Position = projection * seen;
}`;

// The normal is that of the triangle as it is drawn, so it is right however the body deforms.
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 place;
uniform mat4 view;
uniform vec3 light;
uniform vec4 color;
uniform float lit;
out vec4 pixel;
void main() {
  if (lit == 0.0) { pixel = color; return; }
  vec3 n = normalize(cross(dFdx(place), dFdy(place)));
  if (dot(n, place) > 0.0) n = -n;
  vec3 key = mat3(view) * light, up = mat3(view) * vec3(0.0, 0.0, 1.0);
  float amount = 0.28 + 0.14 * dot(n, up) + 0.75 * max(dot(n, key), 0.0);
  float shine = 0.12 * pow(max(dot(reflect(-key, n), -normalize(place)), 0.0), 24.0);
  pixel = vec4(pow(min(color.rgb * amount + shine, 1.0), vec3(1.0 / 2.2)), 1.0);
}`;

/** Draws with WebGL 2. `show` takes the positions of each mesh. */
class GlPicture {
  constructor(canvas, meshes, ground, camera) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: true, stencil: true });
    if (!gl) throw new Error("no WebGL 2");
    Object.assign(this, { canvas, gl, camera, ground });
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "share");
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    const names = ["low", "size", "light", "view", "projection", "ground", "shadow", "color", "lit"];
    this.at = Object.fromEntries(names.map(n => [n, gl.getUniformLocation(program, n)]));
    gl.enableVertexAttribArray(0);
    this.meshes = meshes.map(m => {
      const corners = gl.createBuffer();
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, corners);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, m.corners, gl.STATIC_DRAW);
      return { ...m, corners, count: m.corners.length, shares: gl.createBuffer() };
    });
    // Just above what stands on the ground, so that they do not flicker through it.
    this.lift = 2e-3 * camera.radius;
    const lines = gridLines(camera, ground + this.lift / 2);
    this.grid = { buffer: gl.createBuffer(), count: lines.length / 3 };
    gl.bindBuffer(gl.ARRAY_BUFFER, this.grid.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, lines, gl.STATIC_DRAW);
  }

  show(number, positions) {
    const { gl } = this, mesh = this.meshes[number];
    Object.assign(mesh, { low: positions.low, size: positions.size });
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.shares);
    gl.bufferData(gl.ARRAY_BUFFER, positions.shares, gl.DYNAMIC_DRAW);
  }

  draw(dark) {
    const { gl, at, camera, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(...(dark ? [0.133, 0.149, 0.176] : [0.902, 0.914, 0.937]), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.uniformMatrix4fv(at.view, false, camera.view());
    gl.uniformMatrix4fv(at.projection, false, camera.projection(canvas.width / canvas.height));
    gl.uniform3fv(at.light, LIGHT);
    gl.uniform1f(at.ground, this.ground + this.lift);
    gl.uniform1f(at.shadow, 0);
    gl.uniform1f(at.lit, 1);
    for (const mesh of this.meshes) this.drawMesh(mesh, [...mesh.color, 1]);
    gl.uniform1f(at.lit, 0);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    this.drawGrid(dark ? [1, 1, 1, 0.13] : [0, 0, 0, 0.16]);
    // Each pixel is darkened once, however many triangles lie over it.
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.uniform1f(at.shadow, 1);
    for (const mesh of this.meshes) if (mesh.moves) this.drawMesh(mesh, [0, 0, 0, dark ? 0.45 : 0.28]);
    gl.disable(gl.STENCIL_TEST);
    gl.disable(gl.BLEND);
  }

  drawMesh(mesh, color) {
    const { gl, at } = this;
    gl.uniform3fv(at.low, mesh.low);
    gl.uniform3fv(at.size, mesh.size);
    gl.uniform4fv(at.color, color);
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.shares);
    gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, true, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.corners);
    gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
  }

  drawGrid(color) {
    const { gl, at } = this;
    gl.uniform3fv(at.low, [0, 0, 0]);
    gl.uniform3fv(at.size, [1, 1, 1]);
    gl.uniform4fv(at.color, color);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.grid.buffer);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    gl.drawArrays(gl.LINES, 0, this.grid.count);
  }
}
