/**
 * Builds dist/console: the console's page, its script, a file of texts for each language and its styles, under names that
 * change with their content.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const SHELL = 'index.html';

/** @param {string} root the repository @param {string} dist @returns {Promise<string[]>} the paths of what went into it */
export async function bundleConsole(root, dist) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { console: 'src/console/main.tsx' },
    outdir: join(dist, 'console'),
    entryNames: '[name]-[hash]',
    bundle: true,
    // Of the texts, which import nothing: they are all that the script imports.
    splitting: true,
    chunkNames: '[name]-[hash]',
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox124', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: 'src/console/tsconfig.json',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const names = Object.keys(metafile.outputs).map((path) => basename(path));
  writeFileSync(join(dist, 'console', SHELL), shell(names));
  for (const name of readdirSync(join(dist, 'console')))
    if (name !== SHELL && !names.includes(name)) rmSync(join(dist, 'console', name));
  return Object.keys(metafile.inputs);
}

/** @param {string[]} names of the script and the styles */
function shell(names) {
  const asset = (ending) =>
    `/console/assets/${names.find((name) => name.startsWith('console-') && name.endsWith(ending))}`;
  return `<!doctype html>
<html lang="en" translate="no">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>Webhooks</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${asset('.css')}">
<script type="module" src="${asset('.js')}"></script>
</head>
<body><div id="console"></div><noscript>The console needs JavaScript.</noscript></body>
</html>
`;
}
