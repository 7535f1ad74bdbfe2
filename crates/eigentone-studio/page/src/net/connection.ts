/** Requests, answers and events of one studio server; reconnects by itself. */

import {
  CONTACTS, METERS, MODES, SOFT, STATE, STONES, kindOf, parseContacts, parseMeters, parseModes, parseSoft, parseState, parseStones,
  type ContactPacket, type Meters, type ModesPacket, type SoftPacket, type StatePacket, type StonesPacket,
} from "./binary";
import { StudioError, type Answer, type Request, type ServerEvent } from "./protocol";
import type { FromWorker, ToWorker } from "./socket.worker";
import SocketWorker from "./socket.worker?worker";

export interface Handlers {
  event(event: ServerEvent): void;
  state(packet: StatePacket): void;
  contacts(packet: ContactPacket): void;
  stones(packet: StonesPacket): void;
  soft(packet: SoftPacket): void;
  meters(meters: Meters): void;
  modes(packet: ModesPacket): void;
  link(status: LinkStatus): void;
}

export type LinkStatus = "connecting" | "open" | "lost" | "refused";

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

const RETRY_MS = 1000;
const ANSWER_MS = 30_000;

export class Connection {
  private readonly worker = new SocketWorker();
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;
  private opened = false;
  private failures = 0;

  constructor(
    private readonly token: string,
    private readonly handlers: Handlers,
  ) {
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    this.connect();
  }

  /** Sends and does not wait. */
  post(request: Request): void {
    this.tell({ type: "send", text: JSON.stringify(request) });
  }

  /** Sends and waits for the answer; a refusal is a `StudioError`. */
  ask(request: Request): Promise<Answer> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new StudioError("The server does not answer.", "Is the studio still running in its terminal?"));
      }, ANSWER_MS);
      this.waiting.set(id, {
        resolve: (answer) => (clearTimeout(timer), resolve(answer)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      });
      this.tell({ type: "send", text: JSON.stringify({ ...request, id }) });
    });
  }

  /** Gives the socket's thread the way to the worklet. */
  connectAudio(port: MessagePort): void {
    this.worker.postMessage({ type: "audio", port } satisfies ToWorker, [port]);
  }

  /** An HTTP request with the token; errors are those of the server. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${this.token}`);
    const response = await fetch(path, { ...init, headers });
    if (response.ok) return response;
    const text = await response.text();
    let error = `${response.status} ${response.statusText}`;
    let hint: string | undefined;
    try {
      const told = JSON.parse(text) as { error?: string; hint?: string };
      if (told.error) error = told.error;
      hint = told.hint;
    } catch {
      hint = text.slice(0, 200) || undefined;
    }
    throw new StudioError(error, hint);
  }

  private connect(): void {
    this.handlers.link(this.failures > 0 ? "lost" : "connecting");
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.tell({ type: "connect", url: `${scheme}://${location.host}/ws?token=${encodeURIComponent(this.token)}` });
  }

  private tell(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private receive(message: FromWorker): void {
    switch (message.type) {
      case "open":
        this.opened = true;
        this.failures = 0;
        this.handlers.link("open");
        break;
      case "closed":
        this.closed();
        break;
      case "text":
        this.text(message.text);
        break;
      case "binary":
        this.binary(message.buffer);
        break;
    }
  }

  private closed(): void {
    for (const waiting of this.waiting.values()) waiting.reject(new StudioError("The connection was lost.", undefined));
    this.waiting.clear();
    this.failures++;
    this.handlers.link(this.opened ? "lost" : "refused");
    setTimeout(() => this.connect(), Math.min(RETRY_MS * this.failures, 5000));
  }

  private text(text: string): void {
    let message: Answer | ServerEvent;
    try {
      message = JSON.parse(text) as Answer | ServerEvent;
    } catch {
      return;
    }
    if ("event" in message) {
      this.handlers.event(message as ServerEvent);
      return;
    }
    const answer = message as Answer;
    const waiting = this.waiting.get(answer.re);
    if (!waiting) {
      if (answer.ok === false && answer.error) this.handlers.event({ event: "log", level: "warning", text: answer.error });
      return;
    }
    this.waiting.delete(answer.re);
    if (answer.ok) waiting.resolve(answer);
    else waiting.reject(new StudioError(answer.error ?? "Refused.", answer.hint));
  }

  private binary(buffer: ArrayBuffer): void {
    switch (kindOf(buffer)) {
      case STATE: {
        const packet = parseState(buffer);
        if (packet) this.handlers.state(packet);
        break;
      }
      case CONTACTS: {
        const packet = parseContacts(buffer);
        if (packet) this.handlers.contacts(packet);
        break;
      }
      case STONES: {
        const packet = parseStones(buffer);
        if (packet) this.handlers.stones(packet);
        break;
      }
      case SOFT: {
        const packet = parseSoft(buffer);
        if (packet) this.handlers.soft(packet);
        break;
      }
      case METERS: {
        const meters = parseMeters(buffer);
        if (meters) this.handlers.meters(meters);
        break;
      }
      case MODES: {
        const packet = parseModes(buffer);
        if (packet) this.handlers.modes(packet);
        break;
      }
    }
  }
}
