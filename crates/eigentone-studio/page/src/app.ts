/** Everything a panel may use, and the actions more than one of them needs. */

import { Player } from "./audio/player";
import { Api } from "./net/api";
import type { Handlers } from "./net/connection";
import { Connection } from "./net/connection";
import { StudioError, type Blow, type BodyId, type BodySetting, type Request, type Vec3 } from "./net/protocol";
import { Studio } from "./state/studio";
import { toast } from "./ui/toast";

export class App {
  readonly studio = new Studio();
  readonly connection: Connection;
  readonly api: Api;
  readonly player: Player;
  /** For variations of it. */
  lastBlow: { body: BodyId; blow: Blow } | null = null;
  private gesture = Math.floor(Math.random() * 1e6) * 1000;

  constructor(token: string, handlers: Pick<Handlers, "state" | "contacts" | "stones" | "soft">) {
    this.connection = new Connection(token, {
      ...handlers,
      event: (event) => {
        this.studio.apply(event);
        // Taken away from a page that fell behind: ask again.
        if (event.event === "audio" && !event.on) this.player.stream();
        if (event.event === "log" && event.level === "error") toast("error", event.text);
      },
      meters: (meters) => {
        this.studio.meters.value = meters;
        this.player.rendered(meters.frame);
      },
      modes: (packet) => (this.studio.modes.value = packet),
      link: (status) => (this.studio.link.value = status),
    });
    this.api = new Api(this.connection);
    this.player = new Player(
      () => this.connection,
      () => this.studio.sampleRateHz.value,
    );
    this.studio.link.changed((status) => {
      if (status !== "open") return;
      this.player.stream();
      void this.loadTables();
    });
  }

  /** Sends a request; a refusal is shown and logged. */
  async do(request: Request): Promise<boolean> {
    return (await this.attempt(() => this.connection.ask(request))) !== undefined;
  }

  /** Runs something that may be refused. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.complain(error);
      return undefined;
    }
  }

  complain(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    const hint = error instanceof StudioError ? error.hint : undefined;
    this.studio.addLog("error", hint ? `${text} ${hint}` : text);
    toast("error", text, hint);
  }

  /** A new step of undo; everything sent with the same number belongs to it. */
  beginGesture(): number {
    return ++this.gesture;
  }

  set(body: BodyId, gesture: number, setting: BodySetting): void {
    const { position: _position, rotation: _rotation, fixed, ...shown } = setting;
    const before = this.studio.bodies.value.get(body);
    // Another material may need a model that has to be made: the server tells.
    const guess = setting.material === undefined ? shown : { ...shown, provisional: true };
    this.studio.assume(body, fixed === undefined ? guess : { ...guess, kind: fixed ? "fixed" : "dynamic" });
    void this.do({ do: "set", body, gesture, ...setting }).then((granted) => {
      if (!granted && before) this.studio.assume(body, before);
    });
  }

  /** One step of history, if there is one. */
  step(direction: "undo" | "redo"): void {
    if (this.studio.history.value[direction] > 0) void this.do({ do: direction });
  }

  /** `eventMs` is the time stamp of the event that let go. */
  strike(body: BodyId, at: Vec3, direction: Vec3, impulseNs: number, eventMs = performance.now()): void {
    const meters = this.studio.meters.value;
    const peak = meters ? Math.max(meters.peakL, meters.peakR) : 1;
    // Measured where the blow stands out from what sounds already.
    if (peak < 1e-3 && this.player.status.value === "on") this.player.arm(Math.max(2e-5, 10 * peak), eventMs);
    const blow: Blow = { at, impulse_ns: impulseNs, mallet: this.studio.mallet.value };
    this.lastBlow = { body, blow };
    this.connection.post({ do: "strike", body, direction, ...blow });
    if (this.player.status.value === "off") void this.player.start();
  }

  private async loadTables(): Promise<void> {
    await this.attempt(async () => {
      const [materials, surfaces, shelf] = await Promise.all([this.api.materials(), this.api.surfaces(), this.api.shelf()]);
      this.studio.materials.value = materials;
      this.studio.surfaces.value = surfaces;
      this.studio.shelf.value = shelf;
    });
  }
}
