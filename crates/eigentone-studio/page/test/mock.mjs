// A stand-in for the server while the page is made: decaying sines, a few bodies.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { WebSocketServer } from "ws";
const dist = new URL("../dist/", import.meta.url);
const types = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const box = (x, y, z) => { const p = []; for (const i of [-1, 1]) for (const j of [-1, 1]) for (const k of [-1, 1]) p.push(i * x / 2, j * y / 2, k * z / 2);
  return { p, t: [0,1,3,0,3,2,4,6,7,4,7,5,0,4,5,0,5,1,2,3,7,2,7,6,0,2,6,0,6,4,1,5,7,1,7,3] }; };
const lathe = (prof, n = 48) => { const p = [], t = []; prof.forEach(([r, z]) => { for (let i = 0; i < n; i++) p.push(r * Math.cos(2*Math.PI*i/n), r * Math.sin(2*Math.PI*i/n), z); });
  for (let k = 0; k + 1 < prof.length; k++) for (let i = 0; i < n; i++) { const a = k*n+i, b = k*n+(i+1)%n; t.push(a, b, a+n, b, b+n, a+n); } return { p, t }; };
const bowl = lathe([[0.001,0],[0.03,0.001],[0.06,0.008],[0.085,0.025],[0.1,0.05],[0.105,0.08]]);
const mk = (id, name, material, mesh, pos, f) => ({ mesh, pos, info: { id, name, material, surface: "smooth", kind: id === 4 ? "fixed" : "dynamic", shape: "mesh", sounds: true, provisional: id === 2, modes: 24, first_hz: f, mass_kg: 0.42, size: 1, pitch: 1, damping: 1, brightness: 0, gain: 1, mesh_version: 1, model_version: 1 } });
const bodies = new Map([mk(1, "bowl", "brass", bowl, [0,0,0], 420), mk(2, "bar", "wood", box(0.3,0.05,0.012), [0.25,0.05,0.03], 880), mk(3, "glass cup", "glass", lathe([[0.02,0],[0.035,0],[0.04,0.05],[0.045,0.1]]), [-0.22,-0.02,0], 1500), mk(4, "table", "steel", box(1.2,0.8,0.02), [0,0,-0.012], 90)].map(b => [b.info.id, b]));
const modesOf = (b) => Array.from({ length: 24 }, (_, i) => ({ frequency_hz: b.info.first_hz * b.info.pitch * (1 + i * 0.63 + 0.05 * i * i), decay_per_s: 3 + i * 0.8, gain: 1 / (1 + i) }));
let voices = [], frame = 0, hist = 0, hail = { on: false, center: [0,0,0.6], size: [0.8,0.8,0.1], particles: 700, radius_m: 0.004 };
const server = createServer(async (q, r) => {
  const url = new URL(q.url, "http://x"); r.setHeader("Content-Security-Policy", "default-src 'self'");
  const json = (v) => { r.setHeader("Content-Type", "application/json"); r.end(JSON.stringify(v)); };
  const p = url.pathname;
  if (p === "/api/materials") return json(["steel","aluminium","brass","glass","wood","ceramic","plastic"].map(name => ({ name })));
  if (p === "/api/surfaces") return json(["smooth","brushed-metal","wood","gravel"]);
  if (p === "/api/shelf") return json({ objects: [["bowl","Singing bowl","bronze"],["bar","Marimba bar","rosewood"],["gong","Gong","bronze"],["wineglass","Wine glass","glass"],["plate","Steel plate","steel"],["bell","Bell","brass"],["ring","Ring","steel"],["drum","Oil drum","steel"],["ball","Marble","glass"]].map(([name,title,material])=>({name,title,material})), scenes: [{name:"hail",title:"Hail: a picnic"},{name:"xylophone",title:"Xylophone"}] });
  let m;
  if ((m = /^\/api\/mesh\/(\d+)$/.exec(p))) { const { mesh } = bodies.get(+m[1]); const b = Buffer.alloc(8 + 4*(mesh.p.length+mesh.t.length)); b.writeUInt32LE(mesh.p.length/3,0); b.writeUInt32LE(mesh.t.length/3,4); mesh.p.forEach((v,i)=>b.writeFloatLE(v,8+4*i)); mesh.t.forEach((v,i)=>b.writeUInt32LE(v,8+4*mesh.p.length+4*i)); return r.end(b); }
  if ((m = /^\/api\/model\/(\d+)$/.exec(p))) return json({ material: "x", method: "shell", modes: modesOf(bodies.get(+m[1])), sites: 10, warnings: [], tail_from_hz: null });
  if ((m = /^\/api\/shape\/(\d+)\/(\d+)$/.exec(p))) { const { mesh } = bodies.get(+m[1]); const n = 2 + (+m[2] % 4); const b = Buffer.alloc(4*mesh.p.length); for (let i=0;i<mesh.p.length;i+=3) { const a = Math.atan2(mesh.p[i+1],mesh.p[i]); const k = Math.cos(n*a); b.writeFloatLE(k*Math.cos(a),4*i); b.writeFloatLE(k*Math.sin(a),4*i+4); } return r.end(b); }
  if (p.startsWith("/api/")) { r.statusCode = 404; return json({ error: "no such thing", hint: "mock" }); }
  try { const f = p === "/" ? "index.html" : p.slice(1); const d = await readFile(new URL(f, dist)); r.setHeader("Content-Type", types[f.split(".").pop()] ?? "application/octet-stream"); r.end(d); } catch { r.statusCode = 404; r.end(); }
});
new WebSocketServer({ server, path: "/ws" }).on("connection", (ws) => {
  const say = (v) => ws.send(JSON.stringify(v)); let sub = null; const peak = [0, 0];
  say({ event: "hello", protocol: 1, sample_rate_hz: 48000, title: "Mock scene", autosave: null });
  const scene = () => say({ event: "scene", bodies: [...bodies.values()].map(b => b.info), listener: { position: [0.3,-0.8,0.4], look: [0,1,0], up: [0,0,1] }, hail, quality: { masking_db: 5 }, playing: true, speed: 1, file: "kitchen.toml", dirty: true });
  scene();
  const render = (n) => { const b = Buffer.alloc(16 + 8*n); b[0]=1; b[1]=1; b.writeBigUInt64LE(BigInt(frame),8); for (let i=0;i<n;i++) { let s=0; for (const v of voices) { s += v.a*Math.sin(v.w*(frame+i-v.t)); v.a *= v.d; } peak[0] = Math.max(peak[0], Math.abs(s)); b.writeFloatLE(s,16+8*i); b.writeFloatLE(s*0.8,20+8*i); } voices = voices.filter(v=>v.a>1e-7); frame += n; ws.send(b); };
  const head = (k, n) => { const b = Buffer.alloc(n); b[0]=k; b[1]=1; return b; };
  const timer = setInterval(() => {
    const st = head(2, 32+44*bodies.size); st.writeBigUInt64LE(BigInt(frame),8); st.writeUInt32LE(bodies.size,24); let at=32;
    for (const { info, pos } of bodies.values()) { st.writeDoubleLE(info.id,at); pos.forEach((v,i)=>st.writeFloatLE(v,at+8+4*i)); st.writeFloatLE(1,at+32); const on = voices.some(v=>v.body===info.id); st.writeFloatLE(on?75:0,at+36); st.writeUInt32LE(on?1:4,at+40); at+=44; }
    ws.send(st);
    const me = head(4, 16+68); [peak[0],peak[0]*.8,peak[0]/2,peak[0]*.4, 20*Math.log10(peak[0]+1e-6)-3, 0.08, 96, voices.length, 12, 8, 0, 0, 0, 3, 0.01, 0.42+0.05*Math.sin(frame/30000), 9].forEach((v,i)=>me.writeFloatLE(v,16+4*i)); peak[0]*=0.8; ws.send(me);
    if (sub) { const ms = modesOf(bodies.get(sub)); const b = head(5, 24+12*ms.length+8*20); b.writeDoubleLE(sub,8); b.writeUInt32LE(ms.length,16); b.writeUInt32LE(20,20); let a=24; ms.forEach((m,i)=>{ const v = voices.find(v=>v.body===sub&&v.i===i); b.writeFloatLE(m.frequency_hz,a); const l = v?100+20*Math.log10(v.a+1e-9):-100; b.writeFloatLE(l,a+4); b.writeUInt32LE(!v?0:i%5===2?2:i%7===5?4:l<10?3:1,a+8); a+=12; }); for (let i=0;i<20;i++) { b.writeFloatLE(40*2**(i*0.45),a); b.writeFloatLE(20+15*Math.sin(i*0.8),a+4); a+=8; } ws.send(b); }
  }, 33);
  ws.on("close", () => clearInterval(timer));
  ws.on("message", (text) => { const q = JSON.parse(text); let extra = {};
    if (q.do === "audio" && q.lead) render(q.lead);
    else if (q.do === "credit") return render(q.frames);
    else if (q.do === "strike") { const b = bodies.get(q.body); modesOf(b).forEach((m,i)=>voices.push({ body: q.body, i, w: 2*Math.PI*m.frequency_hz/48000, d: Math.exp(-m.decay_per_s/48000), a: 0.3*q.impulse_ns*m.gain, t: frame })); const c = head(3,64); c.writeBigUInt64LE(BigInt(frame),8); c.writeUInt32LE(1,16); c.writeDoubleLE(q.body,24); q.at.forEach((v,i)=>c.writeFloatLE(v+b.pos[i],40+4*i)); c.writeFloatLE(q.impulse_ns,52); ws.send(c); }
    else if (q.do === "set") { const b = bodies.get(q.body); for (const k of ["material","size","pitch","damping","brightness","gain","name","surface"]) if (k in q) b.info[k] = q[k]; b.info.model_version++; say({ event: "body", body: b.info }); say({ event: "history", undo: ++hist, redo: 0, label: "change" }); }
    else if (q.do === "modes") sub = q.body;
    else if (q.do === "hail") { hail = { ...hail, ...q }; }
    else if (q.do === "grab") extra = { grab: 1 };
    else if (q.do === "why") extra = { reasons: ["It was not struck.", "It is 40 m away from the listener."] };
    if (q.id) say({ re: q.id, ok: true, ...extra });
  });
  let share = 0; const task = setInterval(() => { share = Math.min(0.9, share + 0.03); say({ event: "task", body: 2, stage: "eigenmodes", share }); }, 300); ws.on("close", () => clearInterval(task));
});
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/#token=x`));
