/** TypeScript as JavaScript, with its types stripped by swc: once, then from a file that is named by the text's hash. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync, version } from '@swc/core';

const OPTIONS = { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };
/** Not in the folder for temporary files, where others may put files under these names. */
const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/typescript', import.meta.url));
const SALT = JSON.stringify([version, OPTIONS]);

/** @param {string} path of TypeScript @returns {string} JavaScript */
export function compiled(path) {
  const text = readFileSync(path, 'utf8');
  const file = fileOf(path, text);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const { code, map } = transformSync(text, { ...OPTIONS, filename: path, sourceMaps: true });
    mkdirSync(FOLDER, { recursive: true });
    write(`${file}.map`, map);
    write(file, code);
    return code;
  }
}

/** @param {string} name a module's URL, or that of a stack's frame: anything then */
export function isTypeScript(name) {
  return /^file:.*\.ts(\?|$)/.test(name);
}

const sourceMaps = new Map();

/** Stacks are long, and ask for each frame. @param {string} name of a frame @returns {string | undefined} the map's path */
export function sourceMapOf(name) {
  if (!sourceMaps.has(name)) sourceMaps.set(name, isTypeScript(name) ? mapOf(fileURLToPath(name)) : undefined);
  return sourceMaps.get(name);
}

function mapOf(path) {
  try {
    return `${fileOf(path, readFileSync(path, 'utf8'))}.map`;
  } catch {
    return undefined; // gone by now
  }
}

function fileOf(path, text) {
  const hash = createHash('sha256').update(SALT).update(path).update('\0').update(text).digest('hex');
  return join(FOLDER, `${hash}.js`);
}

/** Other workers write the same file at the same time. */
function write(file, text) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, text);
  renameSync(own, file);
}
