/** Prints what the first load weighs, gzipped: the entry's script, what it imports at once, and their styles. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const BUDGET_KB = 250;
const dist = new URL('../dist/', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('manifest.json', dist), 'utf8'));

function filesOf(entry) {
  const seen = new Set();
  const files = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    const chunk = manifest[name];
    files.add(chunk.file);
    for (const style of chunk.css ?? []) files.add(style);
    for (const other of chunk.imports ?? []) visit(other);
  };
  visit(entry);
  return files;
}

const kb = (files) =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(new URL(file, dist))).length, 0) / 1000;
const shell = filesOf('src/app/main.tsx');
const canvas = manifest['src/features/canvas/CanvasPage.tsx']
  ? filesOf('src/features/canvas/CanvasPage.tsx')
  : new Set();
const figures = {
  shell_kb_gzip: Number(kb(shell).toFixed(1)),
  canvas_kb_gzip: Number(kb([...canvas].filter((file) => !shell.has(file))).toFixed(1)),
};
console.log(JSON.stringify(figures));
if (figures.shell_kb_gzip > BUDGET_KB) {
  console.error(`The first load weighs ${figures.shell_kb_gzip} kB, more than ${BUDGET_KB} kB.`);
  process.exit(1);
}
