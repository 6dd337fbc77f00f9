import { randomUUID } from 'node:crypto';
import { type EventStore, NO_STREAM, type RecordedEvent } from '../../src/ports/event-store.js';
import { createFingerprints } from '../../src/secrets/fingerprint.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import type { RequestKey } from '../../src/webhooks/envelope.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import { createKeyedCommandHandler } from '../../src/webhooks/handle-command.js';
import { collect } from '../contract/contract.js';
import { CONTEXT, register, registered } from '../support/generators/webhook-samples.js';
import { commandDeps } from '../support/scenes/command-deps.js';
import { HeldReadModel } from '../support/scenes/held-read-model.js';
import { type ReadModel, startReadModel } from '../support/scenes/read-model-fixture.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { openSqliteStore } from '../support/servers/sqlite-store.js';

const HOUR = 3_600_000;
const directory = temporaryDirectory();
const { store, close } = openSqliteStore(directory.path);
let readModel: ReadModel;
const now = Date.now();
let accounts = 0;

beforeAll(async () => {
  readModel = await startReadModel(store, directory.path);
});
afterAll(async () => {
  await readModel.close();
  await close();
  directory.remove();
});

const handler = () =>
  createKeyedCommandHandler(commandDeps({ store, accounts: readModel.commandAccounts, time: () => now }));

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

const preparing =
  (path: string, newId = 7) =>
  async () =>
    register(path, { newId });

const stored = (accountId: number): Promise<RecordedEvent[]> => collect(store.read(accountStream(accountId)));

it('a key counts for 24 h after its event, over a read model that was made meanwhile too', async () => {
  const accountId = await newAccount();
  await handler()(accountId, keyOf('k'), preparing('a'), CONTEXT);
  const later = await startReadModel(store, directory.path);
  try {
    const deps = commandDeps({ store, accounts: later.commandAccounts });
    const at = (ms: number) => createKeyedCommandHandler({ ...deps, time: () => now + ms });
    const early = await at(24 * HOUR - 1)(accountId, keyOf('k'), preparing('a'), CONTEXT);
    expect(early.kind).toBe('replayed');
    const late = await at(24 * HOUR)(accountId, keyOf('k', 'another'), preparing('b', 9), CONTEXT);
    expect(late.kind).toBe('accepted');
  } finally {
    await later.close();
  }
});

it('outlives a change of the master key for as long as the one before it is there', async () => {
  const accountId = await newAccount();
  await handler()(accountId, keyOf('k'), preparing('a'), CONTEXT);
  const again = await handler()(accountId, keyOf('k', 'a request', 2), preparing('a'), CONTEXT);
  expect(again.kind).toBe('replayed');
});

it('a key counts where the read model has not folded its event: it was read, or appended here', async () => {
  const accountId = await newAccount();
  const held = new HeldReadModel();
  const behind = await startReadModel(held.over(store as EventStore), directory.path);
  try {
    const handle = createKeyedCommandHandler(commandDeps({ store, accounts: behind.commandAccounts, time: () => now }));
    await handler()(accountId, keyOf('theirs'), preparing('a'), CONTEXT);
    await handle(accountId, keyOf('ours'), preparing('b', 9), CONTEXT);
    for (const [key, path] of [['theirs', 'a'] as const, ['ours', 'b'] as const]) {
      const again = await handle(accountId, keyOf(key), preparing(path), CONTEXT);
      expect(again.kind).toBe('replayed');
    }
    expect(await stored(accountId)).toHaveLength(3);
  } finally {
    held.letGo();
    await behind.close();
  }
});
