// The reader of binary messages: numbers come out as they went in, and no malformed message is believed.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { build } from "vite";

let binary;
before(async () => {
  const entry = new URL("../src/net/binary.ts", import.meta.url).pathname;
  const [{ output }] = [await build({ configFile: false, logLevel: "error", build: { write: false, minify: false, lib: { entry, formats: ["es"] } } })].flat();
  binary = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
});

/** Writes numbers one after the other: `[type, value]`. */
function message(kind, ...fields) {
  const sizes = { u32: 4, f32: 4, f64: 8, u64: 8 };
  const view = new DataView(new ArrayBuffer(8 + fields.reduce((sum, [type]) => sum + sizes[type], 0)));
  view.setUint8(0, kind);
  view.setUint8(1, 1);
  let at = 8;
  for (const [type, value] of fields) {
    if (type === "u32") view.setUint32(at, value, true);
    else if (type === "f32") view.setFloat32(at, value, true);
    else if (type === "f64") view.setFloat64(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += sizes[type];
  }
  return view.buffer;
}

const f32 = (...values) => values.map((value) => ["f32", value]);
const samples = {
  parseState: message(2, ["u64", 7e9], ["f64", 1.5], ["u32", 1], ["u32", 0], ["f64", 2 ** 52], ...f32(1, 2, 3, 0, 0, 0, 1, 60), ["u32", 5]),
  parseContacts: message(3, ["u64", 5], ["u32", 1], ["u32", 0], ["f64", 4], ["f64", 0], ...f32(1, 2, 3, 0.25), ["u32", 1], ["u32", 0]),
  parseMeters: message(4, ["u64", 5], ...f32(...Array.from({ length: 18 }, (_, i) => i))),
  parseModes: message(5, ["f64", 9], ["u32", 2], ["u32", 1], ...f32(100, 50), ["u32", 1], ...f32(200, 20), ["u32", 99], ...f32(1000, 12)),
  parseStones: message(6, ["u64", 5], ["u32", 1], ["u32", 0], ...f32(1, 2, 3)),
};

test("numbers come out as they went in", () => {
  const state = binary.parseState(samples.parseState);
  assert.equal(state.frame, 7e9);
  assert.deepEqual(state.bodies, [{ id: 2 ** 52, position: [1, 2, 3], rotation: [0, 0, 0, 1], levelDb: 60, sounding: true, held: false, asleep: true }]);
  assert.deepEqual(binary.parseContacts(samples.parseContacts).contacts, [{ a: 4, b: 0, position: [1, 2, 3], impulseNs: 0.25, kind: "begin" }]);
  const meters = binary.parseMeters(samples.parseMeters);
  assert.deepEqual([meters.peakL, meters.load, meters.modesMixed, meters.realtimeFactor], [0, 5, 7, 16]);
  const modes = binary.parseModes(samples.parseModes);
  assert.deepEqual([...modes.frequencyHz, ...modes.levelDb, ...modes.bandHz, ...modes.thresholdDb], [100, 200, 50, 20, 1000, 12]);
  assert.ok(modes.state.every((state) => state < binary.MODE_STATES.length));
  assert.deepEqual([...binary.parseStones(samples.parseStones).positions], [1, 2, 3]);
  assert.equal(binary.parseAudio(message(1, ["u64", 3], ...f32(0.5, -0.5))).samples.length, 2);
});

test("a message that is cut short is not believed", () => {
  for (const [parse, whole] of Object.entries(samples)) {
    for (let bytes = 0; bytes < whole.byteLength; bytes++) assert.equal(binary[parse](whole.slice(0, bytes)), null, `${parse} of ${bytes} bytes`);
  }
});

test("counts that promise more than there is are not believed", () => {
  const huge = ["u32", 0xffffffff];
  assert.equal(binary.parseState(message(2, ["u64", 0], ["f64", 0], huge, ["u32", 0])), null);
  assert.equal(binary.parseContacts(message(3, ["u64", 0], huge, ["u32", 0])), null);
  assert.equal(binary.parseModes(message(5, ["f64", 0], huge, huge)), null);
  assert.equal(binary.parseStones(message(6, ["u64", 0], huge, ["u32", 0])), null);
  const mesh = (...numbers) => Uint32Array.from(numbers).buffer;
  assert.equal(binary.parseMesh(mesh(0xffffffff, 0xffffffff)), null);
  assert.equal(binary.parseMesh(mesh(1, 1, 0, 0, 0, 0, 0, 7)), null, "a triangle of a vertex that does not exist");
  assert.equal(binary.parseMesh(mesh(1, 1, 0, 0, 0, 0, 0, 0)).triangles.length, 3);
  assert.equal(binary.parseShape(new ArrayBuffer(11), 1), null);
});

test("another version is another language", () => {
  const other = message(2);
  new DataView(other).setUint8(1, 2);
  assert.equal(binary.kindOf(other), 0);
  assert.equal(binary.kindOf(new ArrayBuffer(3)), 0);
});
