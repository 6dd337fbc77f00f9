/** Kafka's jars: fetched by Maven once, and again when pom.xml changes. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const LIB = join(HERE, 'lib');
/**
 * Of Java's classes, as `java.js` makes and uses it. Beside the jars: with them it goes. Java silently goes on without an
 * archive that names jars of another folder, as in a copy of the tree: there it has another name, and is made.
 */
export const ARCHIVE = join(LIB, `classes-${hashOf(LIB).slice(0, 8)}.jsa`);
const POM = join(HERE, 'pom.xml');
const MADE_FROM = '.made-from';

/** @returns {string[]} what has to be installed before Kafka can run here, none where it can */
export function missingTools() {
  // What a run has found once holds for all of it: Maven tries for a long time.
  if (process.env.NO_KAFKA) return [process.env.NO_KAFKA];
  const javaMajor = Number(/version "(\d+)/.exec(outputOf('java', '-version'))?.[1] ?? 0);
  const missing = javaMajor >= 17 ? [] : ['Java 17 or later'];
  if (!isFetched() && !outputOf('mvn', '-version')) missing.push('Maven');
  return missing;
}

/**
 * @param {(line: string) => void} tell
 * @returns {string} the class path
 */
export function kafkaClassPath(tell) {
  if (!isFetched()) fetchJars(tell);
  return readdirSync(LIB)
    .filter((name) => name.endsWith('.jar'))
    .sort()
    .map((name) => join(LIB, name))
    .join(delimiter);
}

/** Into a folder of its own first: two may fetch at once, and one may be stopped. */
function fetchJars(tell) {
  tell('fetching the jars of Apache Kafka with Maven (43 MB, once) ...');
  const folder = mkdtempSync(join(HERE, 'lib-'));
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
  const { status, stdout, stderr } = spawnSync('mvn', ['-B', '-q', '-f', POM, ...goal], { encoding: 'utf8' });
  if (status !== 0) {
    rmSync(folder, { recursive: true });
    throw new Error(`Maven could not fetch Kafka:\n${stdout}${stderr}`);
  }
  writeFileSync(join(folder, MADE_FROM), pomHash());
  rmSync(LIB, { recursive: true, force: true });
  renameSync(folder, LIB);
}

function isFetched() {
  const file = join(LIB, MADE_FROM);
  return existsSync(file) && readFileSync(file, 'utf8') === pomHash();
}

function pomHash() {
  return hashOf(readFileSync(POM));
}

function hashOf(content) {
  return createHash('sha256').update(content).digest('hex');
}

/** '' where there is no such command. Java tells its version on stderr. */
function outputOf(command, argument) {
  const { stdout, stderr } = spawnSync(command, [argument], { encoding: 'utf8' });
  return `${stdout ?? ''}${stderr ?? ''}`;
}
