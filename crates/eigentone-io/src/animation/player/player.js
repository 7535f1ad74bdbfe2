// The player: the sound is the clock, and the picture follows it.

const element = id => document.getElementById(id);
const scene = JSON.parse(element("scene").textContent);
const [sound, wave, seek, clock, play] = ["sound", "wave", "seek", "clock", "play"].map(element);
const meshes = scene.meshes.map(m => ({ ...m, corners: new Uint32Array(bytesOf(m.corners).buffer) }));
const moving = meshes.map((m, number) => ({ ...m, number })).filter(m => m.moves);
const frameBytes = moving.reduce((sum, m) => sum + 24 + 6 * m.vertices, 0);
const camera = new Camera(scene.low, scene.high);
const darkness = matchMedia("(prefers-color-scheme: dark)");

function makePicture() {
  try {
    if (location.hash === "#2d") throw new Error("asked for");
    return new GlPicture(element("picture"), meshes, scene.low[2], camera);
  } catch {
    // A canvas that has been tried with one kind of drawing cannot be used with the other.
    element("picture").replaceWith(element("picture").cloneNode());
    return new FlatPicture(element("picture"), meshes, scene.low[2], camera);
  }
}
const screen3d = makePicture(), picture = screen3d.canvas;
meshes.forEach((m, number) => { if (!m.moves) screen3d.show(number, positionsAt(bytesOf(m.rest), 0, m.vertices)); });

// Frames are decoded block by block, when they are first shown.
const texts = [...document.getElementsByClassName("frames")], blocks = [];
function block(number) {
  if (!blocks[number]) {
    blocks[number] = bytesOf(texts[number].textContent);
    texts[number].textContent = "";
  }
  return blocks[number];
}

function showFrame(frame) {
  const bytes = moving.length ? block(Math.floor(frame / scene.framesPerBlock)) : null;
  let at = frame % scene.framesPerBlock * frameBytes;
  for (const { number, vertices } of moving) {
    screen3d.show(number, positionsAt(bytes, at, vertices));
    at += 24 + 6 * vertices;
  }
}

/** The frame of a time. The hundredth makes up for clocks that round a frame's own time down. */
const frameAt = time => Math.min(Math.max(Math.floor(time * scene.framesPerSecond + 0.01), 0), scene.frames - 1);
const duration = () => Number.isFinite(sound.duration) ? sound.duration : scene.frames / scene.framesPerSecond;

let seeking = false, shown = -1, shownTime = -1, stale = true, wantedTime = null;
const now = () => wantedTime ?? sound.currentTime;

function update() {
  const time = now(), frame = frameAt(time);
  if (frame !== shown) {
    showFrame(frame);
    shown = frame;
    stale = true;
  }
  const resized = [picture, wave].map(fit).includes(true);
  if (stale || resized) screen3d.draw(darkness.matches);
  if (!stale && !resized && time === shownTime) return;
  [stale, shownTime] = [false, time];
  drawWave(time);
  seek.max = duration();
  if (!seeking) seek.value = time;
  clock.value = `${time.toFixed(3)} s of ${duration().toFixed(3)} s · frame ${frame + 1} of ${scene.frames}`;
  seek.setAttribute("aria-valuetext", `${time.toFixed(2)} seconds`);
}

/** Gives a canvas the pixels of its place on the screen; tells whether that changed. */
function fit(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight].map(x => Math.max(1, Math.round(x * ratio)));
  if (canvas.width === width && canvas.height === height) return false;
  Object.assign(canvas, { width, height });
  return true;
}

const waveform = new Int8Array(bytesOf(scene.waveform).buffer);
function drawWave(time) {
  const context = wave.getContext("2d"), { width, height } = wave, style = getComputedStyle(document.documentElement);
  const columns = waveform.length / 2, middle = height / 2, scale = middle * 0.9 / 127;
  const here = Math.min(time / duration(), 1) * width;
  context.clearRect(0, 0, width, height);
  for (let x = 0; x < width && columns > 0; x++) {
    const from = Math.floor(x / width * columns), to = Math.max(from + 1, Math.floor((x + 1) / width * columns));
    let low = 0, high = 0;
    for (let c = from; c < to; c++) [low, high] = [Math.min(low, waveform[2 * c]), Math.max(high, waveform[2 * c + 1])];
    context.fillStyle = style.getPropertyValue(x < here ? "--accent" : "--dim");
    context.fillRect(x, middle - high * scale, 1, Math.max((high - low) * scale, 1));
  }
  context.fillStyle = style.getPropertyValue("--ink");
  context.fillRect(Math.min(Math.round(here), width - 2), 0, 2, height);
}

const api = {
  get frame() { return shown; },
  get frames() { return scene.frames; },
  get time() { return now(); },
  get duration() { return duration(); },
  get paused() { return sound.paused; },
  get kind() { return screen3d.constructor.name; },
  seek(time) {
    const wanted = Math.min(Math.max(time, 0), duration());
    // Before the sound is there it has no time to set.
    if (sound.readyState === 0) wantedTime = wanted;
    else sound.currentTime = wanted;
    update();
  },
  step(frames) {
    sound.pause();
    api.seek(Math.min(Math.max(frameAt(now()) + frames, 0), scene.frames - 1) / scene.framesPerSecond);
  },
  play() { return sound.play(); },
  pause() { sound.pause(); update(); },
};
window.player = api;

sound.addEventListener("loadedmetadata", () => {
  if (wantedTime !== null) sound.currentTime = wantedTime;
  wantedTime = null;
  stale = true;
  update();
});
sound.addEventListener("error", () => {
  Object.assign(element("message"), { hidden: false, textContent: "This browser cannot play the sound." });
});
const label = () => {
  play.textContent = sound.paused ? "▶" : "❚❚";
  play.setAttribute("aria-label", sound.paused ? "Play" : "Pause");
  update();
};
["play", "pause", "ended", "seeked"].forEach(name => sound.addEventListener(name, label));
darkness.addEventListener("change", () => { stale = true; });

const toggle = () => { sound.paused ? sound.play() : sound.pause(); };
play.addEventListener("click", toggle);
element("back").addEventListener("click", () => api.step(-1));
element("forward").addEventListener("click", () => api.step(1));
element("view").addEventListener("click", () => { camera.reset(); stale = true; });
element("speed").addEventListener("change", event => {
  // As a tape: slow motion is deep.
  sound.preservesPitch = false;
  sound.playbackRate = Number(event.target.value);
});
seek.addEventListener("input", () => { seeking = true; api.seek(Number(seek.value)); });
seek.addEventListener("change", () => { seeking = false; });

const seekWave = event => api.seek(event.offsetX / wave.clientWidth * duration());
wave.addEventListener("pointerdown", event => { wave.setPointerCapture(event.pointerId); seekWave(event); });
wave.addEventListener("pointermove", event => { if (event.buttons) seekWave(event); });

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const turn = event.shiftKey ? 0.1 : 0;
  const actions = {
    " ": toggle,
    ArrowLeft: () => turn ? camera.turn(-turn, 0) : api.step(-1),
    ArrowRight: () => turn ? camera.turn(turn, 0) : api.step(1),
    ArrowUp: turn && (() => camera.turn(0, turn)),
    ArrowDown: turn && (() => camera.turn(0, -turn)),
    "+": () => camera.zoom(0.9),
    "-": () => camera.zoom(1 / 0.9),
    Home: () => camera.reset(),
  };
  // A button in focus is pressed by Space itself.
  if (!actions[event.key] || (event.key === " " && event.target.tagName === "BUTTON")) return;
  event.preventDefault();
  actions[event.key]();
  stale = true;
}
addEventListener("keydown", pressed);

// One finger or button turns; two fingers, or another button, zoom and move.
const pointers = new Map();
picture.addEventListener("contextmenu", event => event.preventDefault());
picture.addEventListener("pointerdown", event => {
  picture.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, event);
});
["pointerup", "pointercancel"].forEach(name => picture.addEventListener(name, event => pointers.delete(event.pointerId)));
picture.addEventListener("pointermove", event => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY], height = picture.clientHeight;
  const other = [...pointers.values()].find(p => p.pointerId !== event.pointerId);
  if (other) {
    const apart = p => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY) || 1;
    camera.zoom(apart(before) / apart(event));
    camera.pan(dx / height / 2, -dy / height / 2);
  } else if (event.buttons !== 1 || event.shiftKey) {
    camera.pan(dx / height, -dy / height);
  } else {
    camera.turn(-dx / height * 4, dy / height * 4);
  }
  pointers.set(event.pointerId, event);
  stale = true;
});
picture.addEventListener("wheel", event => {
  event.preventDefault();
  camera.zoom(Math.exp(event.deltaY * 0.001));
  stale = true;
}, { passive: false });

(function loop() {
  update();
  requestAnimationFrame(loop);
})();
