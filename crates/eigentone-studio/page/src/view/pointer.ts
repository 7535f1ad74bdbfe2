/** Mouse, pen and touch in the view: strike, grab, orbit, and the cloud of hail. */

import { Plane, Vector3 } from "three";
import type { App } from "../app";
import { h } from "../ui/dom";
import { lowered, raise, struck } from "../ui/frames";
import { Gauge, impulseOf } from "./gauge";
import type { Hit, WorldView } from "./world-view";

const SEND_MS = 16;

type Action =
  | { kind: "strike"; hit: Hit }
  | { kind: "grab"; hit: Hit; plane: Plane; grab: number | null; to: Vector3; released: boolean }
  | { kind: "cloud"; plane: Plane; offset: Vector3; last: Vector3 };

export class Pointer {
  readonly overlay: HTMLElement;
  readonly gauge = new Gauge();
  private readonly line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  private action: Action | null = null;
  private speed = 0;
  private last = { x: 0, y: 0, ms: 0 };
  private hover: { x: number; y: number } | null = null;
  private sentMs = 0;

  constructor(
    private readonly app: App,
    private readonly view: WorldView,
  ) {
    this.line.classList.add("spring");
    this.line.innerHTML = "<path/><circle r='5'/>";
    this.overlay = h("div.view-overlay", { "aria-hidden": "true" }, this.gauge.element);
    this.overlay.append(this.line);
    const canvas = view.stage.canvas;
    // Before the camera's own listener, which obeys `controls.enabled`.
    canvas.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", () => this.cancel());
    canvas.addEventListener("pointerleave", () => (this.hover = null));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    view.beforeFrame.push(() => this.frame());
  }

  /** Strikes the selected body from the keyboard; the key's length is the force. */
  keyDown(): void {
    const id = this.app.studio.selected.value;
    if (this.action || id === null) return;
    const hit = this.view.pickBody(id);
    if (!hit) return;
    this.action = { kind: "strike", hit };
    raise();
    const [x, y] = this.view.project(hit.point);
    this.gauge.begin(x, y, 0);
  }

  keyUp(): void {
    if (this.action?.kind === "strike" && this.gauge.active) this.strike(this.action.hit);
    this.action = null;
  }

  private down(event: PointerEvent): void {
    const tool = this.app.studio.tool.value;
    const controls = this.view.stage.controls;
    controls.enabled = true;
    if (event.button !== 0 || (tool === "orbit" && !event.shiftKey)) return;
    const [x, y] = [event.offsetX, event.offsetY];
    const hit = this.view.pick(x, y);
    const action = this.begin(event, hit, x, y);
    if (!action) return;
    this.action = action;
    controls.enabled = false;
    this.view.stage.canvas.setPointerCapture(event.pointerId);
    this.view.stage.canvas.focus();
  }

  private begin(event: PointerEvent, hit: Hit | null, x: number, y: number): Action | null {
    const cloud = this.cloudAt(x, y);
    if (cloud && (!hit || cloud.distanceTo(this.view.stage.camera.position) < hit.point.distanceTo(this.view.stage.camera.position))) {
      const center = this.view.hail.handle.position;
      const normal = event.shiftKey ? this.facing() : new Vector3(0, 0, 1);
      return { kind: "cloud", plane: new Plane().setFromNormalAndCoplanarPoint(normal, cloud), offset: center.clone().sub(cloud), last: center.clone() };
    }
    if (!hit) return null;
    this.app.studio.selected.value = hit.body;
    if (this.app.studio.tool.value === "grab" || event.shiftKey) return this.beginGrab(hit);
    raise();
    this.gauge.begin(x, y, event.pointerType === "pen" ? 2.5 * event.pressure : this.speed);
    return { kind: "strike", hit };
  }

  private beginGrab(hit: Hit): Action {
    const plane = new Plane().setFromNormalAndCoplanarPoint(this.facing(), hit.point);
    const action: Action = { kind: "grab", hit, plane, grab: null, to: hit.point.clone(), released: false };
    void this.app.attempt(async () => {
      const answer = await this.app.connection.ask({ do: "grab", body: hit.body, at: hit.point.toArray() });
      action.grab = Number(answer["grab"]);
      if (action.released) this.app.connection.post({ do: "release", grab: action.grab });
      else this.app.connection.post({ do: "drag", grab: action.grab, to: action.to.toArray() });
    });
    return action;
  }

  private move(event: PointerEvent): void {
    const now = performance.now();
    const elapsed = Math.max(1, now - this.last.ms);
    const moved = Math.hypot(event.offsetX - this.last.x, event.offsetY - this.last.y);
    this.speed = elapsed > 120 ? 0 : 0.6 * this.speed + 0.4 * (moved / elapsed);
    this.last = { x: event.offsetX, y: event.offsetY, ms: now };
    this.hover = { x: event.offsetX, y: event.offsetY };
    const action = this.action;
    if (action?.kind === "grab") {
      const to = this.view.cast(event.offsetX, event.offsetY).ray.intersectPlane(action.plane, new Vector3());
      if (to) action.to = to;
      this.sendDrag(false);
    } else if (action?.kind === "cloud") {
      const point = this.view.cast(event.offsetX, event.offsetY).ray.intersectPlane(action.plane, new Vector3());
      if (point) action.last = point.add(action.offset);
      this.view.hail.moveTo(action.last);
      this.sendCloud(false);
    }
  }

  private up(event: PointerEvent): void {
    const action = this.action;
    this.action = null;
    this.view.stage.controls.enabled = true;
    if (event.button !== 0 || !action) return;
    if (action.kind === "strike") this.strike(action.hit, event.timeStamp);
    else if (action.kind === "grab") {
      action.released = true;
      if (action.grab !== null) {
        this.app.connection.post({ do: "drag", grab: action.grab, to: action.to.toArray() });
        this.app.connection.post({ do: "release", grab: action.grab });
      }
    } else this.sendCloud(true, action.last);
  }

  private cancel(): void {
    if (this.action?.kind === "grab") {
      this.action.released = true;
      if (this.action.grab !== null) this.app.connection.post({ do: "release", grab: this.action.grab });
    }
    if (this.gauge.active) this.gauge.end();
    lowered();
    this.action = null;
    this.view.stage.controls.enabled = true;
  }

  private strike(hit: Hit, eventMs = performance.now()): void {
    const share = this.gauge.end();
    this.app.strike(hit.body, hit.local.toArray(), hit.normal.clone().negate().toArray(), impulseOf(share), eventMs);
    struck();
    this.view.flashes.add(hit.point.toArray(), 20 + 40 * share);
  }

  private sendDrag(last: boolean): void {
    const action = this.action;
    if (action?.kind !== "grab" || action.grab === null) return;
    const now = performance.now();
    if (!last && now - this.sentMs < SEND_MS) return;
    this.sentMs = now;
    this.app.connection.post({ do: "drag", grab: action.grab, to: action.to.toArray() });
  }

  private sendCloud(last: boolean, center?: Vector3): void {
    const now = performance.now();
    if (!last && now - this.sentMs < 50) return;
    this.sentMs = now;
    const at = (center ?? this.view.hail.handle.position).toArray();
    this.app.connection.post({ do: "hail", center: at });
    if (last) this.app.studio.hail.value = { ...this.app.studio.hail.value, center: at };
  }

  private cloudAt(x: number, y: number): Vector3 | null {
    if (!this.view.hail.group.visible) return null;
    return this.view.cast(x, y).intersectObject(this.view.hail.handle, false)[0]?.point ?? null;
  }

  private facing(): Vector3 {
    return this.view.stage.camera.getWorldDirection(new Vector3());
  }

  private frame(): void {
    this.drawSpring();
    if (this.action || !this.hover) return;
    const { x, y } = this.hover;
    const hit = this.view.pick(x, y);
    const cloud = this.cloudAt(x, y);
    this.view.hovered = hit?.body ?? null;
    this.view.hail.setHover(cloud !== null && !hit);
    const tool = this.app.studio.tool.value;
    const cursor = hit && tool === "strike" ? "crosshair" : (hit && tool === "grab") || cloud ? "grab" : "default";
    if (this.view.stage.canvas.style.cursor !== cursor) this.view.stage.canvas.style.cursor = cursor;
  }

  private drawSpring(): void {
    const action = this.action;
    this.line.classList.toggle("on", action?.kind === "grab");
    if (action?.kind !== "grab") return;
    const mesh = this.view.view(action.hit.body)?.mesh;
    if (!mesh) return;
    const from = this.view.project(mesh.localToWorld(action.hit.local.clone()));
    const to = this.view.project(action.to);
    const [path, circle] = this.line.children as unknown as [SVGElement, SVGElement];
    path.setAttribute("d", zigzag(from, to));
    circle.setAttribute("cx", String(to[0]));
    circle.setAttribute("cy", String(to[1]));
  }
}

/** A spring from `a` to `b` in pixels. */
function zigzag(a: [number, number], b: [number, number]): string {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const length = Math.hypot(dx, dy);
  if (length < 24) return `M${a}L${b}`;
  const turns = Math.min(24, Math.max(6, Math.round(length / 14)));
  const [nx, ny] = [-dy / length, dx / length];
  const width = Math.min(7, 240 / length + 3);
  let path = `M${a}`;
  for (let i = 0; i <= turns; i++) {
    const share = 0.1 + (0.8 * i) / turns;
    const side = i === 0 || i === turns ? 0 : i % 2 ? width : -width;
    path += `L${a[0] + dx * share + nx * side},${a[1] + dy * share + ny * side}`;
  }
  return `${path}L${b}`;
}
