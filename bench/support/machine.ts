/** On what it was measured, in one line: figures of two machines are not compared. */
import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { DRIVER_PACKAGE } from '../../src/adapters/sqlite/open-file.js';
import { newFolder } from './folders.js';

const GIB = 1024 ** 3;
const SYNC_FOR_MS = 500;

export function machine(): string {
  const [first] = cpus();
  const hardware = `${first?.model.trim()}, ${cpus().length} cores, ${(totalmem() / GIB).toFixed(0)} GiB`;
  const versions = ['undici', 'koa', DRIVER_PACKAGE, 'kafkajs'].map((name) => `${name} ${versionOf(name)}`);
  const software = `${platform()} ${release()}, Node ${process.versions.node}, ${versions.join(', ')}`;
  const when = `${new Date().toISOString().slice(0, 10)}, commit ${commit()}`;
  return `${when}. ${hardware}; a disk that syncs 4 KiB ${syncsPerSecond()} times a second. ${software}.`;
}

function versionOf(name: string): string {
  return (JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string }).version;
}

/** With a + where files differ from it. */
function commit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', 'src', 'projections', 'bench') ? '+' : ''}`;
  } catch {
    return 'unknown';
  }
}

/** What durable commits are made of. */
function syncsPerSecond(): number {
  const file = openSync(join(newFolder(), 'sync'), 'w');
  const page = Buffer.alloc(4_096, 1);
  const begin = performance.now();
  let count = 0;
  for (; performance.now() - begin < SYNC_FOR_MS; count += 1) {
    writeSync(file, page, 0, page.length, 0);
    fdatasyncSync(file);
  }
  closeSync(file);
  return Math.round((1_000 * count) / SYNC_FOR_MS);
}
