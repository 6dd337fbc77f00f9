/** On what it was measured, in one line: figures of two machines are not compared. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, platform, release, totalmem } from 'node:os';
import { DRIVER_PACKAGE } from '../../src/adapters/sqlite/open-file.js';

const GIB = 1024 ** 3;

export function machine(): string {
  const [first] = cpus();
  const hardware = `${first?.model.trim()}, ${cpus().length} cores, ${(totalmem() / GIB).toFixed(0)} GiB`;
  const versions = ['undici', 'koa', DRIVER_PACKAGE, 'kafkajs'].map((name) => `${name} ${versionOf(name)}`);
  const software = `${platform()} ${release()}, Node ${process.versions.node}, ${versions.join(', ')}`;
  const when = `${new Date().toISOString().slice(0, 10)}, commit ${commit()}`;
  return `${when}. ${hardware}. ${software}.`;
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
