/** Puts the page together. */

import "./styles/base.css";
import "./styles/layout.css";
import "./styles/panels.css";
import "./styles/rooms.css";
import "./styles/compare.css";
import { App } from "./app";
import { watchDrops } from "./panels/drop";
import { hailPanel } from "./panels/hail";
import { inspector } from "./panels/inspector";
import { logContacts, logPanel, markUnseen } from "./panels/log";
import { malletBar } from "./panels/mallets";
import { meter } from "./panels/meter";
import { modesPanel } from "./panels/modes";
import { fieldLegend } from "./panels/field-legend";
import { roomsPanel } from "./panels/rooms";
import { resonatorPanel } from "./panels/resonator";
import { shelfPanel } from "./panels/shelf";
import { spectrogram } from "./panels/spectrogram";
import { startSound } from "./panels/start-sound";
import { statusBar } from "./panels/status";
import { surfacePanel } from "./panels/surface";
import { tabs } from "./panels/tabs";
import { hintLine, openingLine, toolBar } from "./panels/tools";
import { timeline } from "./panels/timeline";
import { topbar } from "./panels/topbar";
import { offerTour } from "./panels/tour";
import { watchKeys } from "./shortcuts";
import { Rooms } from "./state/rooms";
import { h } from "./ui/dom";
import { watchTheme } from "./ui/theme";
import { mountToasts } from "./ui/toast";
import { MapPictures } from "./view/maps";
import { Pointer } from "./view/pointer";
import { WorldView } from "./view/world-view";

/** The token came in the address' fragment, which no server sees; it is kept for reloads of this tab. */
function readToken(): string {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  try {
    if (given) sessionStorage.setItem("eigentone.token", given);
    return given ?? sessionStorage.getItem("eigentone.token") ?? "";
  } catch {
    return given ?? "";
  }
}

function build(): void {
  watchTheme();
  const root = document.getElementById("app") as HTMLElement;
  const canvas = h<HTMLCanvasElement>("canvas", { tabindex: 0, "aria-label": "The scene. Space strikes the selected body; hold it to strike harder." });
  const parts: { view?: WorldView; contacts?: ReturnType<typeof logContacts> } = {};
  const app = new App(readToken(), {
    state: (packet) => parts.view?.pushState(packet),
    stones: (packet) => parts.view?.hail.setStones(packet),
    soft: (packet) => parts.view?.soft.push(packet),
    contacts: (packet) => {
      parts.view?.pushContacts(packet);
      parts.contacts?.(packet);
    },
  });
  const main = h("main.view", {}, canvas);
  root.append(main);
  const view = new WorldView(app, canvas);
  new MapPictures(app, view);
  const pointer = new Pointer(app, view);
  parts.view = view;
  parts.contacts = logContacts(app);
  const rooms = new Rooms(app, view);
  main.append(pointer.overlay, fieldLegend(rooms, view), toolBar(app, view), startSound(app), h("div.view-foot", {}, openingLine(app), timeline(app), hintLine(app), malletBar(app)));
  const right = h("aside.right", { "aria-label": "Settings" }, tabs("Settings", [
    { id: "body", label: "Body", content: inspector(app) },
    { id: "surface", label: "Surface", content: surfacePanel(app) },
    { id: "resonator", label: "Resonator", content: resonatorPanel(app) },
    { id: "hail", label: "Hail", content: hailPanel(app) },
    { id: "rooms", label: "Rooms", content: roomsPanel(app, view, rooms) },
    { id: "log", label: "Log", content: logPanel(app) },
  ]));
  const dock = h("div.dock", {}, spectrogram(app), modesPanel(app, view), meter(app));
  root.prepend(topbar(app), shelfPanel(app));
  root.append(right, dock, statusBar(app));
  markUnseen(app, right.querySelector("#tab-log") as HTMLElement);
  mountToasts(document.body);
  watchDrops(app);
  watchKeys(app, view, pointer);
  // The tour waits for the sound: its first step is to strike something.
  app.player.status.changed((status) => status === "on" && offerTour());
  // For the console and for tests.
  Object.assign(window, { eigentone: { app, view, rooms } });
}

build();
