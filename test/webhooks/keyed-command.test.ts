import { randomUUID } from 'node:crypto';
import { type EventStore, NO_STREAM, type RecordedEvent } from '../../src/ports/event-store.js';
import { createFingerprints } from '../../src/secrets/fingerprint.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import type { RequestKey } from '../../src/webhooks/envelope.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import { createKeyedCommandHandler, type HandleKeyedCommand } from '../../src/webhooks/handle-command.js';
import { collect } from '../contract/contract.js';
import { CONTEXT, register, registered } from '../support/generators/webhook-samples.js';
import { commandParts } from '../support/scenes/command-parts.js';
import { HeldReadModel } from '../support/scenes/held-read-model.js';
import { type ReadModel, startReadModel } from '../support/scenes/read-model-fixture.js';
import { openSqliteStore } from '../support/servers/sqlite-store.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const HOUR = 3_600_000;
const directory = temporaryDirectory();
const { store, close } = openSqliteStore(directory.path);
const readModels: ReadModel[] = [];
const now = Date.now();
let accounts = 0;

beforeAll(async () => {
  for (let process = 1; process <= 3; process += 1) readModels.push(await startReadModel(store, directory.path));
});
afterAll(async () => {
  await Promise.all(readModels.map((readModel) => readModel.close()));
  await close();
  directory.remove();
});

/** Of one of three processes. */
function handler(process: number): HandleKeyedCommand {
  const load = readModels[process % readModels.length]?.load ?? (() => Promise.reject(new Error('not started')));
  return createKeyedCommandHandler(commandParts({ store, load, time: () => now }));
}

async function newAccount(): Promise<number> {
  accounts += 1;
  const events = enveloped([registered(accounts)], CONTEXT, randomUUID);
  await store.append(accountStream(accounts), events, NO_STREAM);
  return accounts;
}

function keyOf(key: string, content = 'a request', master = 1): RequestKey {
  const fingerprints = createFingerprints([masterKey(Buffer.alloc(32, master)), masterKey(Buffer.alloc(32, 1))]);
  const isOf = (fingerprint: string) => fingerprints.isOf(fingerprint, content);
  return { key, request: fingerprints.of(content), isOf };
}

const preparing = (path: string | number, newId = 7) => {
  const calls: unknown[] = [];
  const prepare = async () => {
    calls.push(path);
    return register(path, { newId });
  };
  return { prepare, calls };
};

const stored = (accountId: number): Promise<RecordedEvent[]> => collect(store.read(accountStream(accountId)));

it('the same request is performed once, and answered the same by every process', async () => {
  const accountId = await newAccount();
  const first = preparing('a');
  expect(await handler(0)(accountId, keyOf('k'), first.prepare, CONTEXT)).toMatchObject({ kind: 'accepted' });
  for (const process of [0, 1, 2]) {
    const again = preparing('a', 8);
    const decision = await handler(process)(accountId, keyOf('k'), again.prepare, CONTEXT);
    expect(decision).toMatchObject({ kind: 'replayed', use: { eventType: 'WebhookAdded' } });
    expect(again.calls).toEqual([]);
  }
  expect(await stored(accountId)).toHaveLength(2);
});

it('at once in three processes one key makes one event', async () => {
  const accountId = await newAccount();
  const requests = Array.from({ length: 30 }, (_, n) =>
    handler(n)(accountId, keyOf('k'), preparing('a', n + 1).prepare, CONTEXT),
  );
  const kinds = (await Promise.all(requests)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'replayed')).toHaveLength(29);
  expect(await stored(accountId)).toHaveLength(2);
});

it('another request under the key is told so, and changes nothing', async () => {
  const accountId = await newAccount();
  await handler(0)(accountId, keyOf('k'), preparing('a').prepare, CONTEXT);
  const other = preparing('b');
  expect(await handler(1)(accountId, keyOf('k', 'another'), other.prepare, CONTEXT)).toEqual({ kind: 'key-taken' });
  expect([other.calls, (await stored(accountId)).length]).toEqual([[], 2]);
});

it('a key counts for 24 h after its event, over a read model that was made meanwhile too', async () => {
  const accountId = await newAccount();
  await handler(0)(accountId, keyOf('k'), preparing('a').prepare, CONTEXT);
  const later = await startReadModel(store, directory.path);
  try {
    const parts = commandParts({ store, load: later.load });
    const at = (ms: number) => createKeyedCommandHandler({ ...parts, time: () => now + ms });
    const early = await at(24 * HOUR - 1)(accountId, keyOf('k'), preparing('a').prepare, CONTEXT);
    expect(early.kind).toBe('replayed');
    const late = await at(24 * HOUR)(accountId, keyOf('k', 'another'), preparing('b', 9).prepare, CONTEXT);
    expect(late.kind).toBe('accepted');
  } finally {
    await later.close();
  }
});

it('a refusal is not kept, and writes nothing', async () => {
  const accountId = await newAccount();
  for (const path of [1, 2, 3]) await handler(0)(accountId, null, preparing(path, path).prepare, CONTEXT);
  const refused = await handler(0)(accountId, keyOf('k'), preparing(4).prepare, CONTEXT);
  expect(refused).toMatchObject({ kind: 'limit-reached', eventType: 'cash_in', params: { limit: 3 } });
  const failing = async () => Promise.reject(new Error('the URL is refused'));
  await expect(handler(0)(accountId, keyOf('k'), failing, CONTEXT)).rejects.toThrow('the URL is refused');
  expect(await stored(accountId)).toHaveLength(4);
  const other = await handler(1)(accountId, keyOf('k', 'another'), preparing(1).prepare, CONTEXT);
  expect(other.kind).toBe('accepted');
});

it('outlives a change of the master key for as long as the one before it is there', async () => {
  const accountId = await newAccount();
  await handler(0)(accountId, keyOf('k'), preparing('a').prepare, CONTEXT);
  const again = await handler(0)(accountId, keyOf('k', 'a request', 2), preparing('a').prepare, CONTEXT);
  expect(again.kind).toBe('replayed');
});

it('a key counts where the read model has not folded its event: it was read, or appended here', async () => {
  const accountId = await newAccount();
  const held = new HeldReadModel();
  const behind = await startReadModel(held.over(store as EventStore), directory.path);
  try {
    const handle = createKeyedCommandHandler(commandParts({ store, load: behind.load, time: () => now }));
    await handler(0)(accountId, keyOf('theirs'), preparing('a').prepare, CONTEXT);
    await handle(accountId, keyOf('ours'), preparing('b', 9).prepare, CONTEXT);
    for (const [key, path] of [['theirs', 'a'] as const, ['ours', 'b'] as const]) {
      const again = await handle(accountId, keyOf(key), preparing(path).prepare, CONTEXT);
      expect(again.kind).toBe('replayed');
    }
    expect(await stored(accountId)).toHaveLength(3);
  } finally {
    held.letGo();
    await behind.close();
  }
});
