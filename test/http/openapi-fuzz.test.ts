/**
 * Requests made from the service's own /openapi.json, valid ones, nearly valid ones and hostile ones: no answer is a
 * failure of the service, and each is as the document says. FUZZ_REQUESTS sets how many, TEST_SEED makes them again.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { SEED } from '../runner/seed.js';
import { inFull } from '../runner/thorough.js';
import { fetchDocument, type Json, type OpenApiDocument } from '../support/clients/documented.js';
import { FuzzClient } from '../support/clients/fuzz-client.js';
import { type FuzzedRequest, fuzzedRequests } from '../support/generators/fuzzed-requests.js';
import type { Meanings } from '../support/generators/schema-values.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { testAuthority } from '../support/servers/certificates.js';
import { type Receiver, startReceiver } from '../support/servers/receiver.js';

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? inFull(10_000, 700, 30_000));
const ACCOUNTS = 8;
/** They ask at the same time, each the next when it has its answer. */
const ASKERS = 8;
const MOST_ROUNDS = inFull(10, 0);
/** The server's own, to a head that is too long: none of these is. */
const BEFORE_ROUTING = '431';
/** Nothing is delivered here, and so nothing recovered: show-delivery.test.ts and recover.test.ts have these answers. */
const OF_UNKNOWN = [
  ...['showDelivery', 'resendDelivery', 'cancelDelivery', 'showRecovery', 'stopRecovery'],
  // Its webhooks stand in the body, where ids are any numbers.
  'startRecoveryOfSeveral',
  // One-time codes and cookies of sessions are not fuzzed: portal-session.test.ts has them.
  ...['endSession', 'previewSession', 'enterSession', 'showSession', 'leaveSession'],
];
const PATHS = ['/200', '/201', '/410', '/500', '/302', '/200?x=1'];

let receiver: Receiver;
let api: RunningApi;
let document: OpenApiDocument;
let client: FuzzClient;
const folder = temporaryDirectory();

beforeAll(async () => {
  const caFile = join(folder.path, 'ca.pem');
  writeFileSync(caFile, (await testAuthority()).cert);
  receiver = await startReceiver({ respond: ({ path }) => ({ status: Number(/\d{3}/.exec(path)?.[0] ?? 200) }) });
  api = await startApi({
    // The first account, which asks the most, meets them; the others hardly.
    RATE_LIMIT_WRITES: String(Math.ceil(REQUESTS / 8)),
    RATE_LIMIT_TOKENS: String(Math.ceil(REQUESTS / 80)),
    ALLOWED_PORTS: String(receiver.port),
    DELIVERY_CA_FILE: caFile,
    DELIVERY_TIMEOUT: '2s',
  });
  document = await fetchDocument(api.url);
  client = await FuzzClient.open(api, ACCOUNTS);
});

afterAll(async () => {
  client?.close();
  await api?.close();
  await receiver?.close();
  folder.remove();
});

test(`${REQUESTS} requests (TEST_SEED=${SEED}): no 5xx, and nothing that the document does not have`, async () => {
  const ask = (asker: number, numRuns = Math.ceil(REQUESTS / ASKERS), only?: ReadonlySet<string>) => {
    const requests = fuzzedRequests({
      document,
      accounts: ACCOUNTS,
      meanings: meanings(receiver),
      ...(only && { only }),
    });
    const property = fc.asyncProperty(requests, (request) => client.send(request));
    return fc.assert(property, { seed: SEED + asker, numRuns, asyncReporter: report });
  };
  const began = performance.now();
  const asked = await Promise.allSettled(Array.from({ length: ASKERS }, (_, asker) => ask(asker)));
  console.log({ seed: SEED, seconds: (performance.now() - began) / 1000 }, client.tally);
  for (const result of asked) if (result.status === 'rejected') throw result.reason;
  // Any number of requests may miss an answer that is rare: those that may give it are asked again.
  for (let round = 0; round < MOST_ROUNDS && neverAnsweredSo().length > 0; round += 1) {
    await ask(ASKERS + round, 500, new Set(neverAnsweredSo().map(({ operationId }) => operationId)));
  }
  expect(inFull(neverAnsweredSo(), [])).toEqual([]);
  await stillInOrder();
});

/** With the smallest request that fails, as it was sent. */
async function report({
  failed,
  errorInstance,
  seed,
  counterexamplePath,
}: fc.RunDetails<[FuzzedRequest]>): Promise<void> {
  if (failed) throw new Error(`seed ${seed}, path ${counterexamplePath}: ${(errorInstance as Error).message}`);
}

/** The operations that never succeeded, or never refused though they may. */
function neverAnsweredSo(): { operationId: string; kind: string }[] {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  return operations.flatMap(({ operationId, responses }) => {
    const asked = Object.keys(responses).filter((status) => status !== BEFORE_ROUTING);
    const documented = new Set(asked.map((status) => status.slice(0, 1)));
    const answered = new Set(Object.keys(client.tally[operationId] ?? {}).map((status) => status.slice(0, 1)));
    const never = ['2', '4'].filter((kind) => documented.has(kind) && !answered.has(kind));
    const isKnown = (kind: string) => kind === '2' && OF_UNKNOWN.includes(operationId);
    return never.filter((kind) => !isKnown(kind)).map((kind) => ({ operationId, kind: `${kind}xx` }));
  });
}

/** The service answers each account, and what holds of its webhooks holds. */
async function stillInOrder(): Promise<void> {
  for (const { webhooks, total } of await client.listings()) {
    const active = webhooks.filter(({ isActive }) => isActive).map(({ type }) => type);
    for (const type of active) expect(active.filter((other) => other === type).length).toBeLessThanOrEqual(3);
    expect(total).toBe(webhooks.length);
  }
  expect(({} as Json).polluted).toBeUndefined();
}

/** What texts of these names are where they are worth something. */
function meanings({ url, port }: Receiver): Meanings {
  const good = PATHS.map((path) => url + path);
  const unreachable = [`https://[::1]:${port}/`, `https://127.0.0.1:${port}/x`, `HTTPS://LOCALHOST:${port}/%20`];
  const refused = [
    ...['http://localhost/', 'https://localhost:22/', 'https://', 'javascript:1', 'https:\\\\localhost', 'ftp://x/'],
    ...[`https://u:p@localhost:${port}/`, `${url}/#x`, `${url}/\t`, ` ${url}`, `${url}/${'x'.repeat(2_100)}`],
  ];
  const cursor = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
  return {
    url: mostly(good, [...unreachable, ...refused]),
    from: mostly(good, refused),
    key: mostly(['X-A', 'X-B', 'X-Api-Key', 'Authorization', '__proto__'], ['x-a', 'Host', 'webhook-id', 'é', '']),
    value: mostly(['v', '', 'with space', 'tab\tinside', '__proto__'], [' v', 'v\r\nX: y', 'é', 'x'.repeat(5_000)]),
    client_id: fc.constant('__CLIENT__'),
    client_secret: fc.constant('__SECRET__'),
    before: fc.constantFrom(cursor([Date.now(), 'msg_x', '']), '3', cursor([1, 'payment-events/0/1@1'])),
    after: fc.constantFrom('start', cursor({ after: [[0, 5, 0]] })),
    user: mostly(['maria', 'Ana Lima'], ['', 'a/b', '\u202e', 'x'.repeat(65)]),
    lifetime: mostly(['1h', '30m', '100ms'], ['0s', '2h', 'x', '']),
    next: mostly(['/', '/deliveries?x=1'], ['//x', '/\\x', 'x']),
    returnUrl: mostly(['https://portal.example.com/'], ['http://x', 'javascript:1', 'https://u:p@x']),
    code: fc.constantFrom('', 'x'),
    'Idempotency-Key': fc.nat(30).map((index) => `key-${index}`),
  };
}

function mostly(good: readonly string[], bad: readonly string[]): fc.Arbitrary<string> {
  const [usual, rare] = [fc.constantFrom(...good), fc.constantFrom(...bad)];
  return fc.oneof({ weight: 14, arbitrary: usual }, { weight: 1, arbitrary: rare });
}
