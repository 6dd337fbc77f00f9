import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Smaller ones are cheaper within the bundle. */
const LARGE_BYTES = 10_000;

/**
 * A plugin of esbuild: large JSON files of packages stand beside the bundle, each content once, and are read when they are
 * asked for. Within it they were half of the text that every start parses: four copies of mime-db, and the tables of
 * encodings that hardly any start asks for.
 *
 * @param {string} outdir
 * @param {Set<string>} written gets their names
 * @returns {import('esbuild').Plugin}
 */
export function jsonBeside(outdir, written) {
  return {
    name: 'json-beside',
    setup(build) {
      build.onLoad({ filter: /node_modules.*\.json$/ }, ({ path }) => {
        const contents = readFileSync(path);
        if (contents.length < LARGE_BYTES) return undefined;
        const file = nameOf(path, contents);
        written.add(file);
        mkdirSync(outdir, { recursive: true });
        writeFileSync(join(outdir, file), contents);
        return { contents: `module.exports = require('./${file}');`, loader: 'js' };
      });
      build.onResolve({ filter: /^\.\/data-[^/]+\.json$/ }, ({ path }) => ({ path, external: true }));
    },
  };
}

/** @param {string} path @param {Buffer} contents */
function nameOf(path, contents) {
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 8);
  return `data-${basename(path, '.json')}-${hash}.json`;
}
