/** A recording beside a body: both spectra, both by ear at equal loudness, and a body fitted to the recording. */

import type { App } from "../app";
import { loudestLufs } from "../audio/loudness";
import { spectrumOf, type Spectrum } from "../audio/spectrum";
import type { BodyId } from "../net/protocol";
import { openDialog } from "../ui/dialog";
import { h, icon, replace } from "../ui/dom";
import { digits, percent } from "../ui/format";
import { toast } from "../ui/toast";
import { SpectraPlot } from "./spectra-plot";

/** As loud as the page plays both, in LUFS. */
const LISTEN_LUFS = -20;

interface Sound {
  buffer: AudioBuffer;
  spectrum: Spectrum;
  gain: number;
}

type Side = "recording" | "body";

/** Recordings that were loaded, by the body that was fitted to them. */
const kept = new Map<BodyId, { name: string; sound: Sound }>();

/** Whether the recording that a body was fitted to can still be compared with it. */
export function hasRecording(body: BodyId): boolean {
  return kept.has(body);
}

/** Opens the comparison again. */
export function reopenRecording(app: App, body: BodyId): void {
  const entry = kept.get(body);
  if (entry) new RecordingDialog(app, null, entry.name, entry.sound).show(body);
}

export async function loadRecording(app: App, file: File): Promise<void> {
  const sound = await decode(app, await file.arrayBuffer());
  if (!sound) {
    toast("error", `${file.name} could not be read.`, "WAV and FLAC are read.");
    return;
  }
  new RecordingDialog(app, file, file.name, sound).show(app.studio.selectedBody?.sounds ? app.studio.selected.value : null);
}

async function decode(app: App, bytes: ArrayBuffer): Promise<Sound | null> {
  // A context that never plays may decode before any click.
  const context = new OfflineAudioContext(1, 1, app.studio.sampleRateHz.value);
  try {
    return measured(await context.decodeAudioData(bytes));
  } catch {
    return null;
  }
}

function measured(buffer: AudioBuffer): Sound {
  const mono = new Float32Array(buffer.length);
  for (let channel = 0; channel < buffer.numberOfChannels; channel++) buffer.getChannelData(channel).forEach((sample, i) => (mono[i] = (mono[i] as number) + sample / buffer.numberOfChannels));
  return { buffer, spectrum: spectrumOf(mono, buffer.sampleRate), gain: 10 ** ((LISTEN_LUFS - loudestLufs(mono, buffer.sampleRate)) / 20) };
}

class RecordingDialog {
  private readonly plot: SpectraPlot;
  private readonly sides: Record<Side, HTMLButtonElement>;
  private readonly legend = h("p.legend-line");
  private readonly result = h("p.muted", { role: "status" });
  private readonly fitButton: HTMLButtonElement;
  private readonly dialog: HTMLDialogElement;
  private body: BodyId | null = null;
  private bodySound: Sound | null = null;
  private playing: AudioBufferSourceNode | null = null;

  constructor(
    private readonly app: App,
    private readonly file: File | null,
    private readonly name: string,
    private readonly recording: Sound,
  ) {
    const canvas = h<HTMLCanvasElement>("canvas", { role: "img", "aria-label": "Spectra of the recording and of the body" });
    this.sides = { recording: this.side("recording", "Recording"), body: this.side("body", "Body") };
    this.fitButton = h<HTMLButtonElement>("button.primary", { type: "button", id: "fit-recording", onclick: () => void this.fit() }, "Fit a body to it");
    this.fitButton.hidden = file === null;
    const both = h<HTMLButtonElement>("button", { type: "button", id: "play-both", title: "One after the other", onclick: () => void this.play("recording", "body") }, icon("play"), h("span", {}, "Both in turn"));
    this.dialog = openDialog(
      name,
      h("div.recording", {}, h("div.spectra", {}, canvas), this.legend, h("div.buttons", { role: "group", "aria-label": "Listen, at equal loudness" }, this.sides.recording, this.sides.body, both), this.result, h("footer", {}, this.fitButton)),
    );
    this.dialog.classList.add("wide");
    this.dialog.addEventListener("close", () => this.stop());
    this.plot = new SpectraPlot(canvas);
  }

  /** Compares with a body, or with none. */
  show(body: BodyId | null): void {
    this.body = body;
    this.bodySound = null;
    this.draw();
    if (body !== null) void this.render(body);
    if (this.file) this.fitButton.focus();
  }

  private side(side: Side, label: string): HTMLButtonElement {
    return h<HTMLButtonElement>("button", { type: "button", id: `play-${side}`, "data-side": side, onclick: () => void this.play(side) }, icon("play"), h("span", {}, label));
  }

  private draw(): void {
    const body = this.body === null ? undefined : this.app.studio.bodies.value.get(this.body);
    this.sides.body.disabled = this.bodySound === null;
    this.plot.show([
      { spectrum: this.recording.spectrum, color: "--state-truncated", filled: true },
      ...(this.bodySound ? [{ spectrum: this.bodySound.spectrum, color: "--accent", filled: false }] : []),
    ]);
    replace(
      this.legend,
      h("span", { "data-side": "recording" }, this.name),
      body ? h("span", { "data-side": "body" }, body.name) : h("span.muted", {}, "Select a body beforehand to compare it too."),
    );
  }

  private async render(body: BodyId): Promise<void> {
    const blow = this.app.lastBlow?.body === body ? this.app.lastBlow.blow : null;
    const bytes = await this.app.attempt(() => this.app.api.blow(body, blow));
    const sound = bytes && (await decode(this.app, bytes));
    if (!sound || this.body !== body) return;
    this.bodySound = sound;
    this.draw();
  }

  private async fit(): Promise<void> {
    if (!this.file) return;
    this.fitButton.disabled = true;
    this.result.textContent = "Fitting…";
    const answer = await this.app.attempt(() => this.app.api.fit(this.file as File));
    this.fitButton.disabled = false;
    this.result.textContent = "";
    if (!answer) return;
    const { report } = answer;
    const share = report?.explained;
    this.result.textContent = `${report?.modes ?? "?"} modes${share === undefined ? "" : ` explain ${percent(share)} of its energy`}${report?.band_error_db === undefined ? "" : `; band levels differ by ${digits(report.band_error_db, 2)} dB`}. The body is in the scene: strike it.`;
    this.app.studio.addLog("info", `${this.name}: ${this.result.textContent}`);
    for (const warning of answer.warnings ?? []) this.app.studio.addLog("warning", warning);
    kept.set(answer.body, { name: this.name, sound: this.recording });
    this.app.studio.selected.value = answer.body;
    this.fitButton.hidden = true;
    this.show(answer.body);
  }

  private async play(...order: Side[]): Promise<void> {
    if (this.app.player.status.value !== "on") await this.app.player.start();
    for (const side of order) {
      const finished = this.playOne(side);
      if (!(await finished)) return;
    }
  }

  /** Ends with false if something else was played meanwhile. */
  private playOne(side: Side): Promise<boolean> {
    this.stop();
    const sound = side === "recording" ? this.recording : this.bodySound;
    const context = this.app.player.context;
    if (!sound || !context || !this.app.player.analyser) return Promise.resolve(false);
    const source = new AudioBufferSourceNode(context, { buffer: sound.buffer });
    const gain = new GainNode(context, { gain: sound.gain });
    // Before the meter of the page's spectrogram: it is seen there, too.
    source.connect(gain).connect(this.app.player.analyser);
    this.playing = source;
    this.sides[side].setAttribute("aria-pressed", "true");
    source.start();
    return new Promise((resolve) => {
      source.onended = () => {
        const mine = this.playing === source;
        this.sides[side].removeAttribute("aria-pressed");
        gain.disconnect();
        if (mine) this.playing = null;
        resolve(mine && this.dialog.isConnected);
      };
    });
  }

  private stop(): void {
    const source = this.playing;
    this.playing = null;
    source?.stop();
  }
}
