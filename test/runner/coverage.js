/**
 * `make coverage`: which lines of src/ run in `make test-all` (ARGS: in some test files), counted by V8 in all of its processes and mapped by
 * source maps. Left out: the console, which runs in browsers; and what a process ran that a test ended by kill -9.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compiled, sourceMapOf } from '../../scripts/typescript/compiled.js';
import { mappedLines } from './source-map-lines.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'coverage');
const COUNTS = join(FOLDER, 'counts');
const COUNTED = new RegExp(`^${pathToFileURL(ROOT).href}(src/(?!console/).*\\.ts|dist/[^/]+\\.js)$`);

/** Comments, and imports, of which a bundle leaves nothing. */
const NEVER_RUNS = /^\s*(\/\/|\/?\*|import |} from )/;
/** By URL, the code that ran, a byte for each of its characters. */
const scripts = new Map();

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(COUNTS, { recursive: true });
spawnSync('node', ['scripts/bundle.js'], { cwd: ROOT, stdio: 'inherit', env: { ...process.env, SOURCE_MAPS: '1' } });
process.exitCode = await tested(process.argv.slice(2));
report();

/** Processes leave gigabytes: each count is added and removed meanwhile. */
async function tested(files) {
  const env = { ...process.env, TEST_ALL: '1', NODE_V8_COVERAGE: COUNTS };
  const tests = spawn('npm', ['test', '--silent', '--', ...files], { cwd: ROOT, stdio: 'inherit', env });
  let code;
  tests.on('exit', (ended) => {
    code = ended ?? 1;
  });
  while (code === undefined) {
    addCounts();
    await delay(500);
  }
  addCounts();
  return code;
}

function addCounts() {
  for (const name of readdirSync(COUNTS)) {
    const file = join(COUNTS, name);
    const counts = parsed(readFileSync(file, 'utf8'));
    if (counts === undefined) continue;
    for (const { url, functions } of counts.result) if (COUNTED.test(url)) addRun(url, functions);
    rmSync(file);
  }
}

/** Undefined: it is being written. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of a function its blocks come after it, and have the word. */
function addRun(url, functions) {
  const code = codeOf(fileURLToPath(url));
  const total = scripts.get(url) ?? new Uint8Array(code.length);
  scripts.set(url, total);
  const run = new Uint8Array(total.length);
  for (const { ranges } of functions)
    for (const { count, startOffset, endOffset } of ranges) run.fill(Math.min(count, 1), startOffset, endOffset);
  for (const [index, ran] of run.entries()) if (ran) total[index] = 1;
}

function codeOf(path) {
  return path.endsWith('.ts') ? compiled(path) : readFileSync(path, 'utf8');
}

/** What can run are the lines that compiling leaves something of. */
function report() {
  const lines = new Map();
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true }).filter((path) =>
    /^(?!console\/).*\.ts$/.test(path),
  );
  for (const source of sources) {
    const path = join(ROOT, 'src', source);
    const texts = readFileSync(path, 'utf8').split('\n');
    const can = mappedLines(codeOf(path), mapOf(path)).filter(({ line }) => !NEVER_RUNS.test(texts[line - 1]));
    lines.set(`src/${source}`, new Map(can.map(({ line }) => [line, false])));
  }
  for (const [url, ran] of scripts) {
    const path = fileURLToPath(url);
    for (const { source, line, offset } of mappedLines(codeOf(path), mapOf(path))) {
      const own = lines.get(relative(ROOT, join(dirname(path), source)));
      if (ran[offset] && own?.has(line)) own.set(line, true);
    }
  }
  write(lines);
}

function mapOf(path) {
  const file = path.endsWith('.ts') ? sourceMapOf(pathToFileURL(path).href) : `${path}.map`;
  const map = JSON.parse(readFileSync(file, 'utf8'));
  // swc names the file by its whole path.
  return {
    ...map,
    sources: map.sources.map((source) => (source.startsWith('/') ? relative(dirname(path), source) : source)),
  };
}

function write(lines) {
  const folders = new Map();
  const never = [];
  for (const [path, own] of lines) {
    const folder = path.split('/').slice(0, -1).slice(0, 2).join('/');
    const missed = [...own].filter(([, ran]) => !ran).map(([line]) => line);
    if (missed.length > 0) never.push(`${path}: ${missed.sort((one, other) => one - other).join(' ')}\n`);
    for (const of of [folder, 'all']) {
      const { can = 0, ran = 0 } = folders.get(of) ?? {};
      folders.set(of, { can: can + own.size, ran: ran + own.size - missed.length });
    }
  }
  for (const [name, { can, ran }] of [...folders].sort())
    console.log(`${((100 * ran) / can).toFixed(1).padStart(5)} % of ${String(can).padStart(6)} lines  ${name}`);
  writeFileSync(join(FOLDER, 'never-run.txt'), never.join(''));
  console.log('coverage/never-run.txt has the others');
}
