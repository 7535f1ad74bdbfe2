/** The world as it is heard: bodies, contacts, hail and listener, drawn once per screen refresh. */

import { Box3, Raycaster, Sphere, Vector2, Vector3, type Intersection } from "three";
import type { App } from "../app";
import type { ContactPacket, StatePacket } from "../net/binary";
import type { Body, BodyId } from "../net/protocol";
import { BodyView, LARGE_M } from "./body-view";
import { FieldView } from "./field-view";
import { Flashes } from "./flashes";
import { HailView } from "./hail-view";
import { ListenerView } from "./listener-view";
import { Poses } from "./poses";
import { SoftSurfaces } from "./soft-surfaces";
import { Stage } from "./stage";
import { Walk } from "./walk";
import { animate } from "../ui/frames";
import { theme } from "../ui/theme";

export interface Hit {
  body: BodyId;
  point: Vector3;
  /** In the body's own frame. */
  local: Vector3;
  /** Out of the surface towards the camera, in the body's own frame. */
  normal: Vector3;
}

export class WorldView {
  /** Called before each picture. */
  readonly beforeFrame: ((elapsedS: number) => void)[] = [];
  readonly stage: Stage;
  readonly flashes = new Flashes();
  readonly hail = new HailView();
  readonly field = new FieldView(() => this.changes++);
  readonly listener: ListenerView;
  readonly walk: Walk;
  readonly poses = new Poses();
  readonly soft = new SoftSurfaces();
  hovered: BodyId | null = null;
  private readonly views = new Map<BodyId, BodyView>();
  private readonly loading = new Map<BodyId, number>();
  private readonly raycaster = new Raycaster();
  private mode: { body: BodyId; mode: number } | null = null;
  private toFrame = true;
  private drawn = NaN;
  /** Counts changes of meshes, materials and shapes. */
  private changes = 0;

  constructor(
    private readonly app: App,
    canvas: HTMLCanvasElement,
  ) {
    this.stage = new Stage(canvas);
    this.listener = new ListenerView(app, this.stage.camera);
    this.walk = new Walk(this);
    this.stage.scene.add(this.flashes.points, this.hail.group, this.listener.group, this.field.group);
    new ResizeObserver(() => {
      const box = canvas.parentElement;
      if (box && box.clientWidth > 0) this.stage.resize(box.clientWidth, box.clientHeight);
    }).observe(canvas.parentElement as Element);
    app.studio.bodies.subscribe((bodies) => this.sync(bodies));
    app.studio.hail.subscribe((hail) => {
      this.changes++;
      this.hail.update(hail);
    });
    app.studio.sceneNumber.changed(() => {
      this.walk.leave();
      this.toFrame = true;
      this.soft.clear();
    });
    theme.subscribe((value) => this.flashes.setLight(value === "light"));
    animate(240, 15, (elapsedS) => this.frame(performance.now(), elapsedS));
  }

  pushState(packet: StatePacket): void {
    this.poses.push(packet);
  }

  pushContacts(packet: ContactPacket): void {
    this.flashes.push(packet);
  }

  /** Something looks different now. */
  touch(): void {
    this.changes++;
  }

  view(id: BodyId): BodyView | undefined {
    return this.views.get(id);
  }

  /** What is under a point of the view, in pixels from its top left. */
  pick(x: number, y: number): Hit | null {
    // Who drags on an endless floor wants to turn the camera.
    const meshes = [...this.views.values()].filter((view) => view.mesh.visible && view.mesh.material.visible).map((view) => view.mesh);
    const hits = this.cast(x, y).intersectObjects(meshes, false);
    const hit = hits[0];
    return hit ? this.hitOf(hit) : null;
  }

  cast(x: number, y: number): Raycaster {
    const { clientWidth, clientHeight } = this.stage.canvas;
    this.raycaster.setFromCamera(new Vector2((2 * x) / clientWidth - 1, 1 - (2 * y) / clientHeight), this.stage.camera);
    return this.raycaster;
  }

  /** Where the keyboard strikes: the surface of the body that the camera sees at its middle, or nearest to that. */
  pickBody(id: BodyId): Hit | null {
    const view = this.views.get(id);
    if (!view) return null;
    const center = view.mesh.localToWorld((view.mesh.geometry.boundingSphere?.center ?? new Vector3()).clone());
    const extent = view.radius;
    for (const [dx, dz] of [[0, 0], [0, 0.35], [0.4, 0], [-0.4, 0], [0, 0.7], [0, -0.35], [0.8, 0], [-0.8, 0]] as const) {
      const right = new Vector3().setFromMatrixColumn(this.stage.camera.matrixWorld, 0);
      const aim = center.clone().addScaledVector(right, dx * extent).add(new Vector3(0, 0, dz * extent));
      this.raycaster.set(this.stage.camera.position, aim.sub(this.stage.camera.position).normalize());
      const hit = this.raycaster.intersectObject(view.mesh, false)[0];
      if (hit) return this.hitOf(hit);
    }
    return null;
  }

  /** Pixels from the view's top left. */
  project(point: Vector3): [number, number] {
    const ndc = point.clone().project(this.stage.camera);
    const { clientWidth, clientHeight } = this.stage.canvas;
    return [((ndc.x + 1) / 2) * clientWidth, ((1 - ndc.y) / 2) * clientHeight];
  }

  frameAll(): void {
    const box = new Box3();
    for (const view of this.views.values()) {
      if (view.radius > LARGE_M) continue;
      view.mesh.updateWorldMatrix(true, false);
      box.union(new Box3().setFromObject(view.mesh, false));
    }
    if (this.hail.group.visible) box.union(new Box3().setFromObject(this.hail.handle));
    box.union(this.field.bounds);
    if (box.isEmpty()) return;
    this.walk.leave();
    const sphere = box.getBoundingSphere(new Sphere());
    // Rooms are wide and low: they fill the view before the sphere around them does.
    const share = this.field.bounds.isEmpty() ? 1 : 0.7;
    this.stage.frame(sphere.center, Math.max(share * sphere.radius, 0.03));
    this.listener.setSceneSize(sphere.radius);
    this.stage.setGround(Math.min(box.min.z, 0));
  }

  /** Shows a mode's shape on its body until told otherwise. */
  async showMode(target: { body: BodyId; mode: number } | null): Promise<void> {
    if (target?.body === this.mode?.body && target?.mode === this.mode?.mode) return;
    this.changes++;
    if (this.mode && this.mode.body !== target?.body) this.views.get(this.mode.body)?.setModeShape(null);
    this.mode = target;
    const view = target && this.views.get(target.body);
    if (!target || !view) return;
    try {
      const shape = await this.app.api.shape(target.body, target.mode, view.vertices);
      if (this.mode === target) view.setModeShape(shape);
    } catch {
      view.setModeShape(null);
    }
  }

  private hitOf(hit: Intersection): Hit {
    const view = this.views.get(hit.object.userData["body"] as BodyId) as BodyView;
    const normal = hit.face?.normal.clone() ?? new Vector3(0, 0, 1);
    const towards = this.raycaster.ray.direction.clone().transformDirection(view.mesh.matrixWorld.clone().invert());
    if (normal.dot(towards) > 0) normal.negate();
    return { body: view.body.id, point: hit.point.clone(), local: view.mesh.worldToLocal(hit.point.clone()), normal };
  }

  private sync(bodies: ReadonlyMap<BodyId, Body>): void {
    this.changes++;
    for (const [id, view] of this.views) {
      if (bodies.has(id)) continue;
      this.stage.scene.remove(view.mesh);
      view.dispose();
      this.views.delete(id);
    }
    for (const [id, body] of bodies) {
      const view = this.views.get(id);
      const known = view?.body.mesh_version;
      view?.update(body);
      if (known !== body.mesh_version && this.loading.get(id) !== body.mesh_version) void this.load(body);
    }
  }

  private async load(body: Body): Promise<void> {
    this.loading.set(body.id, body.mesh_version);
    const data = await this.app.attempt(() => this.app.api.mesh(body.id));
    this.loading.delete(body.id);
    const now = this.app.studio.bodies.value.get(body.id);
    if (!data || !now) return;
    this.changes++;
    const view = this.views.get(body.id);
    if (view) view.setMesh(data);
    else {
      const made = new BodyView(now, data);
      this.views.set(body.id, made);
      this.stage.scene.add(made.mesh);
      if (this.mode?.body === body.id) this.mode = null;
    }
  }

  private frame(nowMs: number, elapsedS: number): void {
    const heard = this.app.player.heardFrame();
    const posed = new Set<BodyId>();
    this.poses.at(heard, (id, pose) => {
      this.views.get(id)?.place(pose);
      posed.add(id);
    });
    this.soft.at(heard, (id, positions) => {
      if (this.views.get(id)?.bend(positions)) this.changes++;
    }, (id) => this.views.get(id)?.rest);
    const selected = this.app.studio.selected.value;
    for (const [id, view] of this.views) {
      // A body without a pose yet would flash at the origin.
      view.mesh.visible = posed.has(id);
      view.setEmphasis(id === selected, id === this.hovered);
    }
    if (this.mode) this.views.get(this.mode.body)?.animateMode(nowMs / 1000);
    if (this.toFrame && this.loading.size === 0 && posed.size > 0 && [...this.views.keys()].every((id) => posed.has(id)) && this.views.size > 0) {
      this.toFrame = false;
      this.frameAll();
    }
    for (const call of this.beforeFrame) call(elapsedS);
    this.listener.animate(Math.min(elapsedS, 0.1));
    this.hail.animate(heard);
    const flashing = this.flashes.animate(heard, this.stage.renderer.getPixelRatio());
    const signature = this.signature();
    this.stage.render(elapsedS, flashing || this.mode !== null || this.hail.group.visible || signature !== this.drawn);
    this.drawn = signature;
  }

  /** A number that changes with everything that is drawn and does not move by itself. */
  private signature(): number {
    let sum = this.changes;
    let weight = 1;
    const add = (value: number): void => {
      weight = (weight * 1.37) % 11;
      sum += weight * value;
    };
    for (const { mesh, outlined } of this.views.values()) {
      mesh.position.toArray().forEach(add);
      mesh.quaternion.toArray().forEach(add);
      add(mesh.material.emissiveIntensity);
      add(Number(mesh.visible) + 2 * Number(outlined));
    }
    this.listener.group.position.toArray().forEach(add);
    add(this.listener.group.rotation.z + Number(this.listener.group.visible));
    return sum;
  }
}
