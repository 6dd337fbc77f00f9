/**
 * `node --import` for a service that says which files of src/ ran, as V8 counts them: the parent sends anything, and is sent
 * those of which a function ran since it asked last.
 */
import { Session } from 'node:inspector/promises';

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
