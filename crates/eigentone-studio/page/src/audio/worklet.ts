/**
 * Plays what arrives from the socket's thread. A ring takes the packets; playing starts when the lead is there.
 *
 * The server renders what it has credit for, so what is under way (ring + network + rendering) stays constant. After an underrun the worklet asks for
 * more than it played (the jitter buffer grows); when even the lowest fill of half a second was above what is needed, it drops the rest without asking
 * for it again (the buffer shrinks).
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
  /** The server's number of the frame that plays now. */
  frame: number;
  /** The context's time at which it plays, in s. */
  timeS: number;
  underruns: number;
  playing: boolean;
}

export interface OnsetReport {
  type: "onset";
  /** Wall clock in ms when the worklet handed the sample on. */
  wallMs: number;
  /** The context's time of the sample, in s. */
  timeS: number;
}

const CAPACITY = 32768;
const MASK = CAPACITY - 1;
const FADE_FRAMES = 64;
const MAX_GROWN = 8192;
/** What may always lie in the ring at its lowest without being trimmed, in frames: the browser takes several quanta at once. */
const SPARE = 256;
/** What was grown is kept so long after an underrun, in s; twice as long where giving it back led to the next one. */
const FIRST_HOLD_S = 10;
const MAX_HOLD_S = 300;
/** An underrun so soon after the buffer shrank is blamed on that, in s. */
const BLAME_S = 5;

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
  private grown = 0;
  private lowest = CAPACITY;
  private sinceTrim = 0;
  private sinceReport = 0;
  private sinceUnderrun = 0;
  private sinceShrink = Infinity;
  private holdS = FIRST_HOLD_S;
  private played = 0;
  private underruns = 0;
  private owed = 0;
  private armed = 0;
  private source: MessagePort | null = null;
  private readonly lead: number;

  constructor(options: { processorOptions: { lead: number } }) {
    super();
    this.lead = options.processorOptions.lead;
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
        break;
      case "restart":
        this.read = this.written;
        this.playing = false;
        this.grown = 0;
        this.holdS = FIRST_HOLD_S;
        this.played = 0;
        this.owed = 0;
        break;
    }
  }

  private push({ frame, samples }: AudioPacket): void {
    const frames = samples.length >> 1;
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
    // Packets are whole blocks: the last part of the lead may still be owed.
    if (!this.playing && fill >= Math.max(this.lead + this.grown - 256, frames)) {
      this.playing = true;
      this.fade = 0;
      this.jump = 0;
    }
    const play = this.playing ? Math.min(frames, fill) : 0;
    for (let i = 0; i < play; i++) this.sample(outL, outR, i);
    this.silence(outL, outR, play);
    if (this.playing && play < frames) this.underrun();
    this.pay(play);
    this.trim(frames);
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
    if (this.armed > 0 && (Math.abs(l) > this.armed || Math.abs(r) > this.armed)) {
      this.armed = 0;
      this.port.postMessage({ type: "onset", wallMs: Date.now(), timeS: currentTime + i / sampleRate } satisfies OnsetReport);
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
    this.sinceUnderrun = 0;
    if (this.played > sampleRate) this.underruns++;
    if (this.sinceShrink < BLAME_S * sampleRate) this.holdS = Math.min(2 * this.holdS, MAX_HOLD_S);
    const more = Math.min(256, MAX_GROWN - this.grown);
    this.grown += more;
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

  private trim(frames: number): void {
    this.sinceUnderrun += frames;
    this.sinceShrink += frames;
    if (!this.playing) return;
    this.lowest = Math.min(this.lowest, this.written - this.read);
    this.sinceTrim += frames;
    if (this.sinceTrim < sampleRate / 2) return;
    const keep = SPARE + (this.sinceUnderrun < this.holdS * sampleRate ? this.grown : Math.max(0, this.grown - 64));
    const excess = Math.min(this.lowest - keep, this.written - this.read - keep);
    if (excess >= 64) {
      this.read += excess;
      this.fade = 0;
      this.jump = excess;
      this.sinceShrink = 0;
      this.grown = Math.max(0, this.grown - excess);
    }
    this.lowest = CAPACITY;
    this.sinceTrim = 0;
  }

  private report(frames: number): void {
    this.sinceReport += frames;
    if (this.sinceReport < sampleRate / 30) return;
    this.sinceReport = 0;
    const fill = this.written - this.read;
    this.port.postMessage({
      type: "report",
      fill,
      frame: this.endFrame - fill,
      timeS: currentTime,
      underruns: this.underruns,
      playing: this.playing,
    } satisfies WorkletReport);
  }
}

registerProcessor("eigentone-player", PlayerProcessor);
