/** Builds dist/console: the console's page, its script and its styles, under names that change with their content. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { build } from 'esbuild';

const SHELL = 'index.html';
const MAIN = 'src/console/main.tsx';
const SHARED = 'shared-by-screens';

/** @param {string} root the repository @param {string} dist @returns {Promise<string[]>} the paths of what went into it */
export async function bundleConsole(root, dist) {
  const options = {
    absWorkingDir: root,
    entryPoints: { console: MAIN },
    outdir: join(dist, 'console'),
    entryNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: 'src/console/tsconfig.json',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  };
  const { metafile: apart } = await build({ ...options, write: false });
  const { metafile } = await build({ ...options, plugins: [together(root, apart)] });
  const names = Object.keys(metafile.outputs).map((path) => basename(path));
  writeFileSync(join(dist, 'console', SHELL), shell(names, staticImports(metafile)));
  for (const name of readdirSync(join(dist, 'console')))
    if (name !== SHELL && !names.includes(name)) rmSync(join(dist, 'console', name));
  return Object.keys(metafile.inputs).filter((path) => !path.startsWith(SHARED));
}

/**
 * Puts what three or more screens load into one chunk. esbuild makes one of each set of modules that the same entry
 * points reach: each screen would load some 30, which is a sixth more, gzipped. So here all entry points reach all of it.
 */
function together(root, metafile) {
  const entries = Object.values(metafile.outputs).flatMap(({ entryPoint = [] }) => entryPoint);
  const filter = new RegExp(`(?:${entries.map((path) => path.replaceAll('.', '\\.')).join('|')})$`);
  const modules = ofSeveralScreens(metafile).filter((path) => !entries.includes(path));
  return {
    name: SHARED,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^${SHARED}$`) }, () => ({ path: SHARED, namespace: SHARED }));
      onLoad({ filter: /./, namespace: SHARED }, () => ({
        contents: modules.map((path) => `import ${JSON.stringify(join(root, path))};`).join('\n'),
        resolveDir: root,
      }));
      onLoad({ filter }, ({ path }) => ({
        contents: `import '${SHARED}';\n${readFileSync(path, 'utf8')}`,
        loader: extname(path).slice(1),
      }));
    },
  };
}

function ofSeveralScreens({ inputs }) {
  const reached = (path, found = new Set()) => {
    if (found.has(path)) return found;
    found.add(path);
    for (const { path: imported, kind } of inputs[path].imports)
      if (kind === 'import-statement') reached(imported, found);
    return found;
  };
  const ofScreens = Object.keys(inputs)
    .filter((path) => path.endsWith('-screen.tsx'))
    .map((path) => reached(path));
  const ofMain = reached(MAIN);
  const isShared = (path) => ofMain.has(path) || ofScreens.filter((of) => of.has(path)).length > 2;
  return Object.keys(inputs).filter((path) => /^src\/.*\.tsx?$/.test(path) && isShared(path));
}

/** What the script needs before it runs: without a hint the browser asks for it only after it has read the script. */
function staticImports({ outputs }) {
  const script = Object.values(outputs).find(({ entryPoint }) => entryPoint === MAIN);
  return script.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
}

/** @param {string[]} names of the script and the styles @param {string[]} preloaded */
function shell(names, preloaded) {
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
${preloaded.map((name) => `<link rel="modulepreload" href="/console/assets/${name}">\n`).join('')}<script type="module" src="${asset('.js')}"></script>
</head>
<body><div id="console"></div><noscript>The console needs JavaScript.</noscript></body>
</html>
`;
}
