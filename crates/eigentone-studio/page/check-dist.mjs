// Proves that dist/ belongs to the sources: builds again beside it and compares every byte.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { build } from "vite";

const MAX_BYTES = 1_000_000;

function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

const root = import.meta.dirname;
const committed = join(root, "dist");
const fresh = mkdtempSync(join(tmpdir(), "eigentone-dist-"));
const wrong = [];
try {
  await build({ root, logLevel: "warn", build: { outDir: fresh, emptyOutDir: true } });
  for (const name of new Set([...files(committed), ...files(fresh)])) {
    let pair;
    try {
      pair = [readFileSync(join(committed, name)), readFileSync(join(fresh, name))];
    } catch {
      wrong.push(`${name} is only on one side`);
      continue;
    }
    if (!pair[0].equals(pair[1])) wrong.push(`${name} differs`);
    if (pair[0].length > MAX_BYTES) wrong.push(`${name} is larger than ${MAX_BYTES} bytes`);
  }
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
if (wrong.length > 0) {
  console.error(`dist/ does not belong to the sources:\n  ${wrong.join("\n  ")}\nRun \`npm run build\` and commit the result.`);
  process.exit(1);
}
console.log("dist/ belongs to the sources.");
