// Readable and operable: contrast, names for screen readers, nothing cut off, the tour.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openStudio } from "./studio.mjs";

let studio;
before(async () => {
  studio = await openStudio({ sound: false, tour: true });
});
after(() => studio?.close());

/** Texts whose contrast with what is behind them is below 4.5 : 1 (WCAG 2.2, 1.4.3). */
function faint() {
  const parse = (text) => {
    const numbers = text.match(/[\d.]+/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return { rgb: numbers.slice(0, 3).map((value) => value * scale), alpha: numbers[3] ?? 1 };
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => ((value / 255) <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const layer = parse(getComputedStyle(at).backgroundColor);
      if (layer.alpha > 0) layers.push(layer);
      if (layer.alpha === 1) break;
    }
    return layers.reverse().reduce((below, { rgb, alpha }) => rgb.map((value, i) => alpha * value + (1 - alpha) * below[i]), [0, 0, 0]);
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent.trim()).join("");
    if (!text || !element.checkVisibility({ visibilityProperty: true }) || element.closest(":disabled, option, noscript")) continue;
    const [a, b] = [luminance(parse(getComputedStyle(element).color).rgb), luminance(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(`${contrast.toFixed(2)}: ${element.tagName}.${element.className} "${text.slice(0, 30)}"`);
  }
  return found;
}

test("the tour has five steps, can be skipped, and does not come again", async () => {
  const { page } = studio;
  await studio.startSound();
  for (let step = 1; step <= 5; step++) {
    assert.equal(await page.textContent(".tour small"), `${step} of 5`);
    await page.click(".tour .primary");
  }
  assert.equal(await page.locator(".tour").count(), 0);
  assert.equal(await page.evaluate(() => localStorage.getItem("eigentone.tour")), "done");
});

/** Keys belong to a dialog until it is gone. */
async function leaveDialog() {
  await studio.page.keyboard.press("Escape");
  await studio.until(() => document.querySelector("dialog") === null);
}

/** Opens every view in turn. */
async function everyView(visit) {
  const { page } = studio;
  for (const tab of await page.locator("[role=tab]").all()) {
    await tab.click();
    await visit(await tab.textContent());
  }
  await page.click("#tab-body");
  for (const button of ["#scene", "#export"]) {
    await page.click(button);
    await page.waitForSelector(".menu");
    await visit(`menu of ${button}`);
    await page.keyboard.press("Escape");
  }
  await page.click('[data-mallet="own"]');
  await visit("own mallet");
  await page.click('[data-mallet="wood"]');
  await page.click("#export");
  await page.click(".menu [role=menuitem] >> text=Variations");
  await visit("variations");
  await leaveDialog();
  await page.keyboard.press("Control+s");
  await page.waitForSelector("#scene-name");
  await visit("save as");
  await leaveDialog();
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(["v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nf 1 2 3\n"], "triangle.obj"));
    dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
  });
  await page.waitForSelector("#mesh-add");
  await visit("a dropped mesh");
  await leaveDialog();
  await page.evaluate(() => window.eigentone.app.complain(new Error("Something was refused.")));
  await visit("a toast");
  await page.click(".toast button");
  await page.evaluate(() => (window.eigentone.app.studio.selected.value = null));
  await visit("nothing selected");
  await page.evaluate(() => (window.eigentone.app.studio.selected.value = [...window.eigentone.app.studio.bodies.value.values()].find(({ sounds }) => sounds).id));
  await page.click("button[aria-label='Short tour and keys']");
  await visit("the tour");
  await page.keyboard.press("Escape");
}

for (const theme of ["dark", "light"]) {
  test(`text has a contrast of 4.5 : 1 in every view of the ${theme} theme`, async () => {
    await studio.page.emulateMedia({ colorScheme: theme });
    await studio.until((theme) => document.documentElement.dataset.theme === theme, theme);
    await everyView(async (name) => assert.deepEqual(await studio.page.evaluate(faint), [], name));
  });
}

const CONTROLS = new Set(["button", "checkbox", "combobox", "link", "listbox", "menuitem", "option", "radio", "radiogroup", "slider", "spinbutton", "switch", "tab", "tablist", "tabpanel", "textbox", "dialog", "application", "image", "Canvas"]);

test("every control of every view has a name that a screen reader can say", async () => {
  const session = await studio.page.context().newCDPSession(studio.page);
  await everyView(async (name) => {
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const nameless = nodes.filter((node) => !node.ignored && CONTROLS.has(node.role?.value) && !node.name?.value?.trim()).map((node) => `${node.role.value} ${node.backendDOMNodeId}`);
    assert.deepEqual(nameless, [], name);
  });
  await session.detach();
});

test("everything can be reached with the keyboard alone, and shows where the focus is", async () => {
  const { page } = studio;
  await page.evaluate(() => document.activeElement?.blur());
  const reached = new Set();
  for (let i = 0; i < 200; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      if (outlineStyle === "none" || parseFloat(outlineWidth) < 1) throw new Error(`no focus is seen on ${element.outerHTML.slice(0, 120)}`);
      return element.id || element.dataset.object || element.dataset.mallet || element.getAttribute("aria-label") || element.textContent;
    });
    if (at === null && i > 0) break;
    reached.add(at);
  }
  for (const wanted of ["scene", "export", "play", "add-mesh", "bowl", "material", "why", "Pitch", "Volume"]) assert.ok(reached.has(wanted), `${wanted} is reached: ${[...reached]}`);
  assert.ok([...reached].some((name) => name?.startsWith("The scene")), "the view");
  assert.ok([...reached].some((name) => name?.startsWith("Modes over")), "the modes");
});

test("objects of the shelf are drawn", async () => {
  await studio.until(() => [...document.querySelectorAll(".card canvas")].every((canvas) => {
    if (canvas.hidden || canvas.width < 100) return false;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let drawn = 0;
    for (let i = 3; i < data.length; i += 4) drawn += data[i] > 128;
    return drawn > 0.02 * canvas.width * canvas.height && drawn < 0.95 * canvas.width * canvas.height;
  }));
});

for (const [width, height] of [[1280, 720], [1920, 1080], [3840, 2160]]) {
  test(`nothing is cut off at ${width} × ${height}`, async () => {
    await studio.page.setViewportSize({ width, height });
    await studio.pictures(3);
    const cut = await studio.page.evaluate(() => {
      const boxes = [...document.querySelectorAll(".topbar, .topbar > *, .toolbar, .mallets, .dock > *, .right, .left")];
      return boxes
        .map((element) => [element.className || element.id, element.getBoundingClientRect()])
        .filter(([, box]) => box.left < 0 || box.top < 0 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1)
        .map(([name]) => name);
    });
    assert.deepEqual(cut, []);
  });
}

test("nothing complained meanwhile", () => assert.deepEqual(studio.complaints, []));
