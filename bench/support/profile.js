/**
 * Loaded into a service by BENCH_PROFILE=1 (--cpu-prof is not allowed in NODE_OPTIONS): leaves a V8 CPU profile when it
 * ends, for the developer tools, and a list of the functions that took most themselves.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';

const FOLDER = process.env.BENCH_PROFILE_FOLDER;
const EVERY_US = 500;
const LISTED = 60;

// A command that asks for help, or a thread, is not what is measured.
if (FOLDER && process.argv[2] === 'serve') {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: EVERY_US });
  session.post('Profiler.start');
  process.once('exit', () => session.post('Profiler.stop', (_, { profile }) => write(profile)));
}

function write(profile) {
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, `${new Date().toISOString().replaceAll(':', '-')}-${process.pid}`);
  writeFileSync(`${file}.cpuprofile`, JSON.stringify(profile));
  writeFileSync(`${file}.txt`, listed(profile));
}

/** Self time in percent of what was not idle. */
function listed({ nodes, samples, timeDeltas }) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const took = new Map();
  samples.forEach((id, index) => {
    const name = names.get(id);
    took.set(name, (took.get(name) ?? 0) + timeDeltas[index]);
  });
  took.delete('(idle)');
  const all = [...took.values()].reduce((sum, us) => sum + us, 0);
  const most = [...took].sort(([, one], [, other]) => other - one).slice(0, LISTED);
  return most.map(([name, us]) => `${((100 * us) / all).toFixed(1).padStart(5)} %  ${name}\n`).join('');
}

function nameOf({ functionName, url, lineNumber }) {
  if (!url) return functionName || '(anonymous)';
  const place = url.replace(/^.*\/(node_modules|dist)\//, '');
  return `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`;
}
