/**
 * `node --import` for a service that says which files of src/ ran, as V8 counts them: the parent sends anything, and is sent
 * those of which a function ran since it asked last.
 */
import { Session } from 'node:inspector/promises';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/** On a busy machine what looks around each second, or five times in one, falls into every call: here it comes a minute later. */
const later = (ms) => (ms >= 200 ? ms + 60_000 : ms);
const { setTimeout: delay } = timers;
timers.setTimeout = (ms, ...rest) => delay(later(ms), ...rest);
syncBuiltinESMExports();
for (const name of ['setTimeout', 'setInterval']) {
  const set = globalThis[name];
  globalThis[name] = (work, ms, ...rest) => set(work, later(ms), ...rest);
}

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** What begins where its file begins is the file itself, as it is loaded. */
const hasRun = ({ ranges: [{ startOffset, count }] }) => startOffset > 0 && count > 0;

process.on('message', async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result.filter(({ functions }) => functions.some(hasRun));
  process.send(ran.flatMap(({ url }) => /\/(src\/(?!console\/).*\.ts)$/.exec(url)?.[1] ?? []));
});
