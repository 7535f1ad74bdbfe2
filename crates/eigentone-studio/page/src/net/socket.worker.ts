/**
 * Owns the WebSocket, so that drawing never delays sound: audio packets go straight from here to the worklet's port, credits straight back.
 * Everything else is handed to the page.
 */

import { AUDIO, kindOf, parseAudio } from "./binary";

export type ToWorker =
  | { type: "connect"; url: string }
  | { type: "send"; text: string }
  | { type: "audio"; port: MessagePort }
  | { type: "close" };

export type FromWorker =
  | { type: "open" }
  | { type: "closed"; code: number; reason: string }
  | { type: "text"; text: string }
  | { type: "binary"; buffer: ArrayBuffer };

const page = self as unknown as {
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
};

let socket: WebSocket | null = null;
let audio: MessagePort | null = null;
let credit = 0;

function send(text: string): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(text);
}

/** The browser takes several blocks at once: their credits go in one message. */
function pay(frames: number): void {
  if (credit === 0) {
    setTimeout(() => {
      send(`{"do":"credit","frames":${credit}}`);
      credit = 0;
    });
  }
  credit += frames;
}

function receive(data: string | ArrayBuffer): void {
  if (typeof data === "string") {
    page.postMessage({ type: "text", text: data });
    return;
  }
  if (kindOf(data) !== AUDIO) {
    page.postMessage({ type: "binary", buffer: data }, [data]);
    return;
  }
  const packet = parseAudio(data);
  if (packet && audio) audio.postMessage(packet, [data]);
}

function connect(url: string): void {
  socket?.close();
  const mine = new WebSocket(url);
  mine.binaryType = "arraybuffer";
  mine.onopen = () => page.postMessage({ type: "open" });
  mine.onmessage = (event) => receive(event.data as string | ArrayBuffer);
  mine.onclose = (event) => {
    if (socket === mine) page.postMessage({ type: "closed", code: event.code, reason: event.reason });
  };
  socket = mine;
}

page.onmessage = ({ data: message }) => {
  switch (message.type) {
    case "connect":
      connect(message.url);
      break;
    case "send":
      send(message.text);
      break;
    case "audio":
      audio = message.port;
      audio.onmessage = (event: MessageEvent<number>) => pay(event.data);
      break;
    case "close":
      socket?.close();
      break;
  }
};
