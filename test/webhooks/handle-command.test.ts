import { randomUUID } from 'node:crypto';
import { type EventStore, NO_STREAM, OtherHistory } from '../../src/ports/event-store.js';
import { accountEvent, enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import { createCommandHandler, type HandleCommand } from '../../src/webhooks/handle-command.js';
import { NO_ACCOUNT } from '../../src/webhooks/state.js';
import { AT, added, CONTEXT, register, registered } from '../support/generators/webhook-samples.js';
import { foldWebhooks } from '../support/scenes/aggregate-spec.js';
import { commandDeps } from '../support/scenes/command-deps.js';
import { HeldReadModel } from '../support/scenes/held-read-model.js';
import { type ReadModel, startReadModel } from '../support/scenes/read-model-fixture.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { bound } from '../support/servers/bound-store.js';
import { openSqliteStore } from '../support/servers/sqlite-store.js';

const directory = temporaryDirectory();
const { store, file, close } = openSqliteStore(directory.path);
const twenty = Array.from({ length: 20 }, (_, index) => index + 1);
let readModels: ReadModel[] = [];
let handlers: HandleCommand[] = [];

beforeAll(async () => {
  readModels = [await startReadModel(store, directory.path), await startReadModel(store, directory.path)];
  handlers = readModels.map((readModel) => handlerOver(readModel));
});

afterAll(async () => {
  await Promise.all(readModels.map((readModel) => readModel.close()));
  await close();
  directory.remove();
});

function handlerOver({ commandAccounts }: ReadModel, over: EventStore = store): HandleCommand {
  return createCommandHandler(commandDeps({ store: over, accounts: commandAccounts }));
}

/** One of the two, in turn: as two processes would share the load. */
function handler(index: number): HandleCommand {
  const chosen = handlers[index % handlers.length];
  if (!chosen) throw new Error('not started');
  return chosen;
}

/** A store in which another command's event comes before the first append. */
function overtaken(): EventStore {
  let isFirst = true;
  return {
    ...bound(store),
    async append(stream, events, expectedRevision) {
      if (isFirst) await store.append(stream, enveloped([added(1)], CONTEXT, randomUUID), expectedRevision);
      isFirst = false;
      return store.append(stream, events, expectedRevision);
    },
  };
}

async function registerAccount(accountId: number): Promise<void> {
  const events = enveloped([registered(accountId)], CONTEXT, randomUUID);
  await store.append(accountStream(accountId), events, NO_STREAM);
}

async function stateOf(accountId: number) {
  let state = NO_ACCOUNT;
  for await (const event of store.read(accountStream(accountId))) state = foldWebhooks(state, accountEvent(event));
  return state;
}

it('of 20 different URLs at once, over two handlers, exactly three are taken', async () => {
  await registerAccount(1);
  const decisions = await Promise.all(twenty.map((path) => handler(path)(1, register(path, { newId: path }), CONTEXT)));
  expect(decisions.filter(({ kind }) => kind === 'accepted')).toHaveLength(3);
  expect(decisions.filter(({ kind }) => kind === 'limit-reached')).toHaveLength(17);
  const { webhooks } = await stateOf(1);
  expect(webhooks).toHaveLength(3);
  expect(webhooks.every(({ isActive, version }) => isActive && version === 1)).toBe(true);
});

it('reads forward and decides again where another command came first', async () => {
  await registerAccount(3);
  const decision = await handlerOver(first(readModels), overtaken())(3, register(1, { newId: 2 }), CONTEXT);
  expect(decision).toMatchObject({ kind: 'accepted', events: [{ type: 'WebhookUpdated', data: { version: 2 } }] });
  expect((await stateOf(3)).webhooks.map(({ id, version }) => ({ id, version }))).toEqual([{ id: 1, version: 2 }]);
});

it('charges a command once that is decided twice', async () => {
  await registerAccount(11);
  const charges: number[] = [];
  const budget = {
    take: (_: unknown, bytes: number) => {
      charges.push(bytes);
      return 0;
    },
    giveBack: (_: unknown, bytes: number) => void charges.push(-bytes),
  };
  const accounts = first(readModels).commandAccounts;
  await createCommandHandler(commandDeps({ store: overtaken(), accounts, budget }))(
    11,
    register(1, { newId: 2 }),
    CONTEXT,
  );
  const [taken = 0, refunded = 0, kept = 0] = charges;
  expect([charges.length, taken + refunded]).toEqual([3, 0]);
  expect(Math.min(taken, kept)).toBeGreaterThan(0);
});

it('decides on all that the store has: the read model may be behind', async () => {
  await registerAccount(7);
  const held = new HeldReadModel();
  const behind = await startReadModel(held.over(store), directory.path);
  try {
    const handle = handlerOver(behind);
    await handler(0)(7, register(1, { newId: 71 }), CONTEXT);
    const change = { type: 'UpdateWebhook', webhookId: 71, at: AT } as const;
    expect(await handle(7, { ...change, isActive: false }, CONTEXT)).toMatchObject({ kind: 'accepted' });
    expect((await stateOf(7)).webhooks).toMatchObject([{ id: 71, isActive: false }]);
    const unknown = { ...change, webhookId: 72, isActive: false };
    expect(await handle(7, unknown, CONTEXT)).toEqual({ kind: 'webhook-not-found' });
  } finally {
    held.letGo();
    await behind.close();
  }
});

it('takes no command where the store has another event than the one the state was folded from', async () => {
  await registerAccount(10);
  await handler(0)(10, register(1, { newId: 101 }), CONTEXT);
  const readModel = await startReadModel(store, directory.path);
  try {
    file.file.prepare("UPDATE events SET id = 'another' WHERE stream = ? AND revision = 1").run(accountStream(10));
    const remove = { type: 'RemoveWebhook', webhookId: 101, at: AT } as const;
    await expect(handlerOver(readModel)(10, remove, CONTEXT)).rejects.toThrow(OtherHistory);
    await expect(readModel.host.lost).rejects.toThrow(OtherHistory);
    expect((await stateOf(10)).webhooks).toHaveLength(1);
  } finally {
    await readModel.close();
  }
});

it('the metadata of an event says who caused it', async () => {
  await registerAccount(4);
  await handler(0)(4, register(1, { newId: 1 }), CONTEXT);
  const metadata: unknown[] = [];
  for await (const event of store.read(accountStream(4), 1)) metadata.push(event.metadata);
  expect(metadata).toEqual([
    { $correlationId: 'correlation-1', $causationId: 'request-1', actor: 'test', requestId: 'request-1' },
  ]);
});

function first<T>(list: readonly T[]): T {
  const [item] = list;
  if (item === undefined) throw new Error('not started');
  return item;
}
