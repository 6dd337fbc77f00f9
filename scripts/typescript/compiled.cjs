/** TypeScript as JavaScript, with its types stripped by swc: once, then from a file that is named by the text's hash. */
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { fileURLToPath } = require('node:url');
const { transformSync, version } = require('@swc/core');

const OPTIONS = { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };
const FOLDER = join(tmpdir(), `account-webhooks-typescript-${process.getuid?.() ?? ''}`);
const SALT = JSON.stringify([version, OPTIONS]);

/** @param {string} path of TypeScript @returns {string} JavaScript */
function compiled(path) {
  const text = readFileSync(path, 'utf8');
  const file = fileOf(path, text);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const { code, map } = transformSync(text, { ...OPTIONS, filename: path, sourceMaps: true });
    mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
    write(`${file}.map`, map);
    write(file, code);
    return code;
  }
}

/** Of a stack's frame. @param {string} name a URL or a path @returns {string | undefined} the map's path */
function sourceMapOf(name) {
  if (!/^file:.*\.ts(\?|$)/.test(name)) return undefined;
  const path = fileURLToPath(name);
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

module.exports = { compiled, sourceMapOf };
