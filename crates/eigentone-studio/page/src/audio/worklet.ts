/**
 * Plays what arrives from the socket's thread. A ring takes the packets; playing starts when the lead is there.
 *
 * The server renders what it has credit for, so what is under way (ring + network + rendering) stays constant: the *target*. What the ring lacked of it at its lowest
 * is the *demand*: the block that the browser takes at once, and the time for sound to come after it. The target is kept a little above the largest demand of the last
 * seconds: it grows by asking for more than was played, before the ring runs dry, and shrinks slowly by leaving sound out.
 */

import type { AudioPacket } from "../net/binary";

declare const sampleRate: number;
declare const currentTime: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new (options: { processorOptions: { lead: number } }) => AudioWorkletProcessor): void;

export type ToWorklet = { type: "port"; port: MessagePort } | { type: "arm"; threshold: number } | { type: "restart" };

export interface WorkletReport {
  type: "report";
  /** Frames in the ring. */
  fill: number;
  /** Frames under way, from the server's rendering to here. */
  target: number;
  /** The server's number of the frame that plays now. */
  frame: number;
  /** The context's time at which it plays, in s. */
  timeS: number;
  underruns: number;
  playing: boolean;
}

export interface OnsetReport {
  type: "onset";
  /** Wall clock in ms when its packet came. */
  arrivedMs: number;
  /** Wall clock in ms when the worklet handed the sample on. */
  wallMs: number;
  /** The context's time of the sample, in s. */
  timeS: number;
}

const CAPACITY = 32768;
const MASK = CAPACITY - 1;
const FADE_FRAMES = 64;
const MAX_TARGET = 4096;
/** Frames that the target is kept above the demand. */
const SPARE = 160;
/** What is asked for after an underrun, when the demand is only known to be larger than the target, in frames. */
const STEP = 256;
/** Differences below this are left alone, in frames. */
const SLACK = 96;
/** What is left out in a second at most: so many frames, or a quarter of what is too much. */
const SHRINK = 128;
/** So long after the start the target follows the last second alone, in s: a page that is still being built stalls more than later. */
const SETTLING_S = 5;
/** Seconds of which the largest demand counts; twice as many where giving back led to an underrun. */
const FIRST_WINDOW_S = 20;
const MAX_WINDOW_S = 300;
/** An underrun so soon after the target shrank is blamed on that, in s. */
const BLAME_S = 10;
/** Who waits longer for the lead takes what there is, in s. */
const LONGEST_WAIT_S = 0.25;

class PlayerProcessor extends AudioWorkletProcessor {
  private readonly left = new Float32Array(CAPACITY);
  private readonly right = new Float32Array(CAPACITY);
  private written = 0;
  private read = 0;
  /** The server's number of the frame after the last one written. */
  private endFrame = 0;
  private playing = false;
  private fade = 0;
  /** Frames that the last trim left out. */
  private jump = 0;
  private lastL = 0;
  private lastR = 0;
  private target: number;
  /** The largest demand of each of the last seconds, the newest last, and of this one. */
  private demands: number[] = [];
  private demand = 0;
  private sinceSecond = 0;
  private sinceReport = 0;
  private sinceShrink = Infinity;
  private sinceStop = 0;
  private windowS = FIRST_WINDOW_S;
  private played = 0;
  private underruns = 0;
  private owed = 0;
  private armed = 0;
  /** When the first sample above the threshold came, and from where in the ring on it may be. */
  private arrived: { ms: number; at: number } | null = null;
  private source: MessagePort | null = null;
  private readonly lead: number;

  constructor(options: { processorOptions: { lead: number } }) {
    super();
    this.lead = this.target = options.processorOptions.lead;
    this.port.onmessage = (event: MessageEvent<ToWorklet>) => this.command(event.data);
  }

  private command(message: ToWorklet): void {
    switch (message.type) {
      case "port":
        this.source = message.port;
        this.source.onmessage = (event: MessageEvent<AudioPacket>) => this.push(event.data);
        break;
      case "arm":
        this.armed = message.threshold;
        this.arrived = null;
        break;
      case "restart":
        this.read = this.written;
        this.playing = false;
        this.target = this.lead;
        this.demands = [];
        this.demand = this.sinceSecond = this.sinceStop = 0;
        this.windowS = FIRST_WINDOW_S;
        this.played = 0;
        this.owed = 0;
        break;
    }
  }

  private push({ frame, samples }: AudioPacket): void {
    const frames = samples.length >> 1;
    if (this.armed > 0 && !this.arrived && samples.some((sample) => Math.abs(sample) > this.armed)) this.arrived = { ms: Date.now(), at: this.written };
    for (let i = 0; i < frames; i++) {
      const at = (this.written + i) & MASK;
      this.left[at] = samples[2 * i] as number;
      this.right[at] = samples[2 * i + 1] as number;
    }
    this.written += frames;
    this.endFrame = frame + frames;
    if (this.written - this.read > CAPACITY) this.read = this.written - CAPACITY;
  }

  process(_inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
    const [outL, outR] = outputs[0] as [Float32Array, Float32Array];
    const frames = outL.length;
    const fill = this.written - this.read;
    this.sinceStop += frames;
    // Packets are whole blocks: the last part of the lead may still be owed.
    const enough = fill >= Math.max(this.target - 256, frames) || (this.sinceStop > LONGEST_WAIT_S * sampleRate && fill >= frames);
    if (!this.playing && enough) {
      this.playing = true;
      this.fade = 0;
      this.jump = 0;
    }
    const play = this.playing ? Math.min(frames, fill) : 0;
    for (let i = 0; i < play; i++) this.sample(outL, outR, i);
    this.silence(outL, outR, play);
    if (this.playing && play < frames) this.underrun();
    this.adapt(frames);
    this.pay(play);
    this.report(frames);
    return true;
  }

  private sample(outL: Float32Array, outR: Float32Array, i: number): void {
    const at = this.read++ & MASK;
    let l = this.left[at] as number;
    let r = this.right[at] as number;
    if (this.fade < FADE_FRAMES) {
      const share = ++this.fade / FADE_FRAMES;
      // Out of what would have been played without the jump, or out of silence.
      const old = (this.read - 1 - this.jump) & MASK;
      l = share * l + (this.jump > 0 ? (1 - share) * (this.left[old] as number) : 0);
      r = share * r + (this.jump > 0 ? (1 - share) * (this.right[old] as number) : 0);
    }
    outL[i] = this.lastL = l;
    outR[i] = this.lastR = r;
    if (this.arrived && this.armed > 0 && this.read > this.arrived.at && (Math.abs(l) > this.armed || Math.abs(r) > this.armed)) {
      this.armed = 0;
      this.port.postMessage({ type: "onset", arrivedMs: this.arrived.ms, wallMs: Date.now(), timeS: currentTime + i / sampleRate } satisfies OnsetReport);
    }
  }

  /** Lets the last sample fade in place of a click. */
  private silence(outL: Float32Array, outR: Float32Array, from: number): void {
    for (let i = from; i < outL.length; i++) {
      outL[i] = this.lastL *= 0.95;
      outR[i] = this.lastR *= 0.95;
    }
  }

  private underrun(): void {
    this.playing = false;
    this.sinceStop = 0;
    if (this.played > sampleRate) this.underruns++;
    if (this.sinceShrink < BLAME_S * sampleRate) this.windowS = Math.min(2 * this.windowS, MAX_WINDOW_S);
    this.demand = this.target + STEP - SPARE;
    this.grow(STEP);
  }

  private grow(frames: number): void {
    const more = Math.max(0, Math.min(frames, MAX_TARGET - this.target));
    this.target += more;
    this.owed += more;
  }

  private pay(played: number): void {
    this.played += played;
    this.owed += played;
    if (this.owed >= 128 && this.source) {
      this.source.postMessage(this.owed);
      this.owed = 0;
    }
  }

  /** Keeps the target a little above the largest demand. */
  private adapt(frames: number): void {
    this.sinceShrink += frames;
    this.sinceSecond += frames;
    if (this.playing) {
      this.demand = Math.max(this.demand, this.target - (this.written - this.read));
      const lacking = this.demand + SPARE - this.target;
      if (lacking >= SLACK) this.grow(lacking);
    }
    if (this.sinceSecond < sampleRate) return;
    const settling = this.played < SETTLING_S * sampleRate;
    this.demands = [...this.demands, this.demand].slice(settling ? -1 : -this.windowS);
    this.demand = this.sinceSecond = 0;
    const excess = Math.min(this.target - SPARE - Math.max(...this.demands), this.written - this.read - SPARE);
    if (this.playing && excess >= SLACK && (settling || this.demands.length >= Math.min(this.windowS, 5))) this.shrink(settling ? excess : Math.min(excess, Math.max(SHRINK, excess >> 2)));
  }

  /** Leaves sound out. */
  private shrink(frames: number): void {
    this.read += frames;
    this.target -= frames;
    this.fade = 0;
    this.jump = frames;
    this.sinceShrink = 0;
  }

  private report(frames: number): void {
    this.sinceReport += frames;
    if (this.sinceReport < sampleRate / 30) return;
    this.sinceReport = 0;
    const fill = this.written - this.read;
    this.port.postMessage({
      type: "report",
      fill,
      target: this.target,
      frame: this.endFrame - fill,
      timeS: currentTime,
      underruns: this.underruns,
      playing: this.playing,
    } satisfies WorkletReport);
  }
}

registerProcessor("eigentone-player", PlayerProcessor);
