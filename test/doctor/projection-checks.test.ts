/** What doctor says of the projections at a server: each condition with its remedy, and a fault of the server once. */
import { projectionsAtServer } from '../../src/doctor/projection-checks.js';
import type { Folding, ProjectionServer } from '../../src/ports/projection-server.js';
import { projectionSource } from '../../src/read-model/projection-source.js';

const OTHER = `fromCategory('account').foreachStream().when({})`;
const RUN_ALL = 'start it with --run-projections=All --start-standard-projections';
const DEPLOY = 'run account-webhooks projections deploy';
const WELL = 'ok account-credentials is running: null';

/** Of account-webhooks; the other one is well unless `isBoth`. */
interface Found {
  readonly status?: string | null;
  readonly source?: string | null;
  readonly folding?: Folding;
  readonly isBoth?: boolean;
}

function serverWith({ status = 'Running', source, folding = 'on', isBoth }: Found): ProjectionServer {
  const isIt = (name: string) => isBoth || name === 'account-webhooks';
  const of = (text: string) => ({ status: text, reason: '', progress: 100, position: '' });
  return {
    folding: async () => folding,
    status: async (name: string) => (isIt(name) ? status && of(status) : of('Running')),
    runningSource: async (name: string) =>
      isIt(name) && source !== undefined ? source : projectionSource(name as 'account-webhooks'),
  } as unknown as ProjectionServer;
}

test.each<[Found, string[]]>([
  [{}, ['ok account-webhooks is running: null', WELL]],
  [{ source: null }, ['ok account-webhooks is running; this user may not read by which source: null', WELL]],
  [{ status: null }, [`warn account-webhooks is not deployed: ${DEPLOY}`, WELL]],
  [{ status: 'Faulted (Enabled)' }, [`FAIL account-webhooks is Faulted (Enabled): ${DEPLOY}`, WELL]],
  [{ source: OTHER }, [`warn account-webhooks runs with another source than this program's: ${DEPLOY}`, WELL]],
  [{ status: 'Stopped' }, [`warn account-webhooks is Stopped: ${DEPLOY}`, WELL]],
  [{ status: 'Stopped (Enabled)', isBoth: true }, [`warn the server runs only its system projections: ${RUN_ALL}`]],
  [{ folding: 'off' }, [`warn projections are off at the server: ${RUN_ALL}`]],
  [
    { folding: 'no-categories' },
    [
      'warn $by_category is stopped at the server, and no projection advances without it: enable it there, or start the server with --start-standard-projections',
    ],
  ],
])('with %j it says %j', async (found, expected) => {
  const findings = await projectionsAtServer(serverWith(found));
  expect(findings.map(({ verdict, says, todo }) => `${verdict} ${says}: ${todo}`)).toEqual(expected);
});

test('an embedded store has no projections to tell of', async () => {
  expect(await projectionsAtServer(null)).toEqual([]);
});
