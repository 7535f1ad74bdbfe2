/** The AudioContext: socket thread → worklet → volume → analyser → loudspeaker. */

import type { Connection } from "../net/connection";
import { Signal } from "../state/signal";
import type { OnsetReport, ToWorklet, WorkletReport } from "./worklet";
import workletUrl from "./worklet.ts?worker&url";

/** Frames rendered ahead at the start, beside the block that the browser takes at once; the worklet adapts from there. */
const LEAD_FRAMES = 384;

export type SoundStatus = "off" | "starting" | "on" | "blocked" | "failed";

export interface SoundFigures {
  /** From rendering in the server to the loudspeaker, in ms: measured, as far as the browser knows its output. */
  latencyMs: number;
  /** Frames under way between the server and the worklet. */
  leadFrames: number;
  underruns: number;
  /** From the last blow on a quiet scene to its first sample in the worklet, in ms. */
  strikeMs: number | null;
}

/** The way of one blow, in ms after the hand let go. */
export interface StrikeTimes {
  /** Its message left the page's own thread. */
  sentMs: number;
  /** Its first samples came to the worklet. */
  arrivedMs: number;
  /** The worklet handed them to the browser. */
  playedMs: number;
  /** They leave the loudspeaker, as far as the browser knows. */
  heardMs: number;
}

export class Player {
  readonly status = new Signal<SoundStatus>("off");
  readonly figures = new Signal<SoundFigures>({ latencyMs: 0, leadFrames: 0, underruns: 0, strikeMs: null });
  readonly strike = new Signal<StrikeTimes | null>(null);
  readonly volume = new Signal(1);
  context: AudioContext | null = null;
  analyser: AnalyserNode | null = null;
  private node: AudioWorkletNode | null = null;
  private gain: GainNode | null = null;
  private last: WorkletReport | null = null;
  /** Wall clock in ms when the hand let go, and when the blow was sent. */
  private armedAt = { releasedMs: 0, sentMs: 0 };

  constructor(
    private readonly connection: () => Connection,
    private readonly sampleRateHz: () => number,
  ) {
    this.volume.changed((volume) => {
      if (this.gain && this.context) this.gain.gain.setTargetAtTime(volume, this.context.currentTime, 0.02);
    });
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
    if (this.context) this.connection().post({ do: "audio", lead: lead(this.context) });
  }

  /** The server's frame that is heard now, or null while nothing plays. */
  heardFrame(): number | null {
    const report = this.last;
    if (!report?.playing || !this.context || this.status.value !== "on") return null;
    const sinceS = Math.min(this.context.currentTime - report.timeS, 0.25);
    return report.frame + (sinceS - this.outputLatencyS()) * this.context.sampleRate;
  }

  /** The server has rendered so many frames by now. */
  rendered(frame: number): void {
    const heard = this.heardFrame();
    if (heard === null || !this.context) return;
    const ms = (1000 * (frame - heard)) / this.context.sampleRate;
    const { latencyMs } = this.figures.value;
    // Frames are counted in blocks: the mean of about a second.
    const share = latencyMs > 0 && Math.abs(ms - latencyMs) < 200 ? 0.03 : 1;
    this.figures.value = { ...this.figures.value, latencyMs: latencyMs + share * (ms - latencyMs) };
  }

  /** Measures the time from an event of the page, by its time stamp, to the next sample above `threshold`. */
  arm(threshold: number, eventMs: number): void {
    const sentMs = Date.now();
    this.armedAt = { releasedMs: sentMs - Math.max(0, performance.now() - eventMs), sentMs };
    this.tell({ type: "arm", threshold });
  }

  private async build(): Promise<void> {
    const context = new AudioContext({ sampleRate: this.sampleRateHz(), latencyHint: "interactive" });
    await context.audioWorklet.addModule(workletUrl);
    const node = new AudioWorkletNode(context, "eigentone-player", {
      numberOfInputs: 0,
      outputChannelCount: [2],
      processorOptions: { lead: lead(context) },
    });
    node.port.onmessage = (event: MessageEvent<WorkletReport | OnsetReport>) => this.report(event.data);
    const channel = new MessageChannel();
    node.port.postMessage({ type: "port", port: channel.port1 } satisfies ToWorklet, [channel.port1]);
    this.connection().connectAudio(channel.port2);
    this.gain = new GainNode(context, { gain: this.volume.value });
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
      this.struck(report);
      return;
    }
    this.last = report;
    this.figures.value = { ...this.figures.value, leadFrames: report.target, underruns: report.underruns };
  }

  private struck(report: OnsetReport): void {
    const { releasedMs, sentMs } = this.armedAt;
    const playedMs = report.wallMs - releasedMs;
    const stamp = this.context?.getOutputTimestamp();
    const heard = stamp?.performanceTime ? stamp.performanceTime + 1000 * (report.timeS - (stamp.contextTime ?? 0)) : null;
    const heardMs = heard === null ? playedMs + 1000 * this.outputLatencyS() : heard + Date.now() - performance.now() - releasedMs;
    this.strike.value = { sentMs: sentMs - releasedMs, arrivedMs: report.arrivedMs - releasedMs, playedMs, heardMs };
    this.figures.value = { ...this.figures.value, strikeMs: playedMs };
  }
}

/** What is asked for at the start: the block that the browser takes at once, and a little more, in whole blocks of the server. */
function lead(context: AudioContext): number {
  return 128 * Math.ceil((context.baseLatency * context.sampleRate + LEAD_FRAMES) / 128);
}
