// Readable and operable: contrast, names for screen readers, nothing cut off, the tour.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openStudio, sleep } from "./studio.mjs";

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

for (const theme of ["dark", "light"]) {
  test(`text has a contrast of 4.5 : 1 in the ${theme} theme`, async () => {
    await studio.page.emulateMedia({ colorScheme: theme });
    await sleep(300);
    for (const tab of ["body", "hail", "rooms", "log"]) {
      await studio.page.click(`#tab-${tab}`);
      assert.deepEqual(await studio.page.evaluate(faint), []);
    }
    await studio.page.click("#tab-body");
  });
}

test("every control has a name", async () => {
  const nameless = await studio.page.evaluate(() =>
    [...document.querySelectorAll("button, input, select, [role=tab], [role=radio]")]
      .filter((element) => !(element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.length || element.title))
      .map((element) => element.outerHTML.slice(0, 120)));
  assert.deepEqual(nameless, []);
});

for (const [width, height] of [[1280, 720], [1920, 1080], [3840, 2160]]) {
  test(`nothing is cut off at ${width} × ${height}`, async () => {
    await studio.page.setViewportSize({ width, height });
    await sleep(300);
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
