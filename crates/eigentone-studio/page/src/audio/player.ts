/** The AudioContext: socket thread → worklet → volume → analyser → loudspeaker. */

import type { Connection } from "../net/connection";
import { Signal } from "../state/signal";
import type { OnsetReport, ToWorklet, WorkletReport } from "./worklet";
import workletUrl from "./worklet.ts?worker&url";

/** Frames rendered ahead at the start; the worklet adapts from there. */
export const LEAD_FRAMES = 512;

export type SoundStatus = "off" | "starting" | "on" | "blocked" | "failed";

export interface SoundFigures {
  /** Ring and output of the browser, in ms. */
  latencyMs: number;
  underruns: number;
  /** From the last blow on a quiet scene to its first sample in the worklet, in ms. */
  strikeMs: number | null;
}

export class Player {
  readonly status = new Signal<SoundStatus>("off");
  readonly figures = new Signal<SoundFigures>({ latencyMs: 0, underruns: 0, strikeMs: null });
  readonly volume = new Signal(1);
  /** Factor that makes two versions equally loud. */
  readonly match = new Signal(1);
  context: AudioContext | null = null;
  analyser: AnalyserNode | null = null;
  private node: AudioWorkletNode | null = null;
  private gain: GainNode | null = null;
  private last: WorkletReport | null = null;
  private armedAt = 0;

  constructor(
    private readonly connection: () => Connection,
    private readonly sampleRateHz: () => number,
  ) {
    const turn = (): void => {
      if (this.gain && this.context) this.gain.gain.setTargetAtTime(this.volume.value * this.match.value, this.context.currentTime, 0.02);
    };
    this.volume.changed(turn);
    this.match.changed(turn);
  }

  /** Has to be called from a click or a key: browsers do not let a page sound by itself. */
  async start(): Promise<void> {
    if (this.status.value === "on" || this.status.value === "starting") return;
    this.status.value = "starting";
    try {
      if (!this.context) await this.build();
      await Promise.race([this.context?.resume(), new Promise((resolve) => setTimeout(resolve, 1500))]);
      this.status.value = this.context?.state === "running" ? "on" : "blocked";
      if (this.status.value === "on") this.stream();
    } catch (error) {
      console.warn("sound could not be started:", error);
      this.status.value = "failed";
    }
  }

  async stop(): Promise<void> {
    if (this.status.value !== "on") return;
    this.connection().post({ do: "audio", lead: 0 });
    await this.context?.suspend();
    this.status.value = "off";
  }

  /** Asks the server for sound; again after a reconnection. */
  stream(): void {
    if (this.status.value !== "on") return;
    this.tell({ type: "restart" });
    this.connection().post({ do: "audio", lead: LEAD_FRAMES });
  }

  /** The server's frame that is heard now, or null while nothing plays. */
  heardFrame(): number | null {
    const report = this.last;
    if (!report?.playing || !this.context || this.status.value !== "on") return null;
    const sinceS = Math.min(this.context.currentTime - report.timeS, 0.25);
    return report.frame + (sinceS - this.outputLatencyS()) * this.context.sampleRate;
  }

  /** Measures the time to the next sample above `threshold`. */
  arm(threshold = 1e-6): void {
    this.armedAt = Date.now();
    this.tell({ type: "arm", threshold });
  }

  private async build(): Promise<void> {
    const context = new AudioContext({ sampleRate: this.sampleRateHz(), latencyHint: "interactive" });
    await context.audioWorklet.addModule(workletUrl);
    const node = new AudioWorkletNode(context, "eigentone-player", {
      numberOfInputs: 0,
      outputChannelCount: [2],
      processorOptions: { lead: LEAD_FRAMES },
    });
    node.port.onmessage = (event: MessageEvent<WorkletReport | OnsetReport>) => this.report(event.data);
    const channel = new MessageChannel();
    node.port.postMessage({ type: "port", port: channel.port1 } satisfies ToWorklet, [channel.port1]);
    this.connection().connectAudio(channel.port2);
    this.gain = new GainNode(context, { gain: this.volume.value * this.match.value });
    this.analyser = new AnalyserNode(context, { fftSize: 8192, smoothingTimeConstant: 0, minDecibels: -140 });
    node.connect(this.gain).connect(this.analyser).connect(context.destination);
    context.onstatechange = () => {
      if (context.state === "suspended" && this.status.value === "on") this.status.value = "blocked";
    };
    this.context = context;
    this.node = node;
  }

  private tell(message: ToWorklet): void {
    this.node?.port.postMessage(message);
  }

  private outputLatencyS(): number {
    return this.context ? this.context.baseLatency + (this.context.outputLatency || 0) : 0;
  }

  private report(report: WorkletReport | OnsetReport): void {
    if (report.type === "onset") {
      this.figures.value = { ...this.figures.value, strikeMs: report.wallMs - this.armedAt };
      return;
    }
    this.last = report;
    const rate = this.context?.sampleRate ?? 48000;
    this.figures.value = {
      ...this.figures.value,
      latencyMs: 1000 * (report.fill / rate + this.outputLatencyS()),
      underruns: report.underruns,
    };
  }
}
