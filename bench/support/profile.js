/**
 * Loaded into a service by BENCH_PROFILE=1 (--cpu-prof is not allowed in NODE_OPTIONS): leaves a V8 CPU profile when it
 * ends, for the developer tools, and a list of the functions that took most themselves. BENCH_PROFILE=heap: the same of
 * what they allocated, whether or not it was collected.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';

const FOLDER = process.env.BENCH_PROFILE_FOLDER;
const EVERY_US = 500;
const EVERY_BYTES = 32 * 1024;
const COLLECTED_TOO = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
const LISTED = 60;

// A command that asks for help, or a thread, is not what is measured.
if (FOLDER && process.argv[2] === 'serve') {
  const session = new Session();
  session.connect();
  if (process.env.BENCH_PROFILE === 'heap') ofHeap(session);
  else ofCpu(session);
}

function ofCpu(session) {
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: EVERY_US });
  session.post('Profiler.start');
  process.once('exit', () =>
    session.post('Profiler.stop', (_, { profile }) => write('cpuprofile', profile, tookUs(profile))),
  );
}

function ofHeap(session) {
  session.post('HeapProfiler.startSampling', { samplingInterval: EVERY_BYTES, ...COLLECTED_TOO });
  process.once('exit', () =>
    session.post('HeapProfiler.stopSampling', (_, { profile }) =>
      write('heapprofile', profile, allocated(profile.head)),
    ),
  );
}

function write(extension, profile, took) {
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, `${new Date().toISOString().replaceAll(':', '-')}-${process.pid}`);
  writeFileSync(`${file}.${extension}`, JSON.stringify(profile));
  writeFileSync(`${file}.txt`, listed(took));
}

/** By function, itself. */
function tookUs({ nodes, samples, timeDeltas }) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const took = new Map();
  samples.forEach((id, index) => {
    const name = names.get(id);
    took.set(name, (took.get(name) ?? 0) + timeDeltas[index]);
  });
  took.delete('(idle)');
  return took;
}

/** Bytes, by function. */
function allocated({ callFrame, selfSize, children }, bytes = new Map()) {
  const name = nameOf(callFrame);
  bytes.set(name, (bytes.get(name) ?? 0) + selfSize);
  for (const child of children) allocated(child, bytes);
  return bytes;
}

/** In percent of all. */
function listed(took) {
  const all = [...took.values()].reduce((sum, one) => sum + one, 0);
  const most = [...took].sort(([, one], [, other]) => other - one).slice(0, LISTED);
  return most.map(([name, one]) => `${((100 * one) / all).toFixed(1).padStart(5)} %  ${name}\n`).join('');
}

function nameOf({ functionName, url, lineNumber }) {
  if (!url) return functionName || '(anonymous)';
  const place = url.replace(/^.*\/(node_modules|dist)\//, '');
  return `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`;
}
