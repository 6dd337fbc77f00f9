import { randomUUID } from 'node:crypto';
import { createWebhookIds } from '../../src/webhooks/webhook-ids.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { bound } from '../support/servers/bound-store.js';
import { openSqliteStore } from '../support/servers/sqlite-store.js';

const directory = temporaryDirectory();
let opened: ReturnType<typeof openSqliteStore>;

beforeAll(() => {
  opened = openSqliteStore(directory.path);
});

afterAll(async () => {
  await opened.close();
  directory.remove();
});

const allocator = () => createWebhookIds(opened.store, randomUUID);

it('two allocators on one store never share an id, and ids stay small', async () => {
  const two = [allocator(), allocator()];
  const taken = await Promise.all(two.flatMap((ids) => Array.from({ length: 250 }, () => ids.take())));
  expect(new Set(taken).size).toBe(500);
  expect(Math.min(...taken)).toBe(1);
  expect(Math.max(...taken)).toBeLessThanOrEqual(600);
  expect(taken.every(Number.isSafeInteger)).toBe(true);
});

it('gives out again what was given back, and counts up otherwise', async () => {
  const ids = allocator();
  const first = await ids.take();
  expect(await ids.take()).toBe(first + 1);
  ids.giveBack(first + 1);
  expect(await ids.take()).toBe(first + 1);
  expect(await ids.take()).toBe(first + 2);
});

it('a store that fails is told to the caller, and the next take tries anew', async () => {
  let fails = true;
  const failing = {
    ...bound(opened.store),
    append: (...args: Parameters<typeof opened.store.append>) =>
      fails ? Promise.reject(new Error('disk full')) : opened.store.append(...args),
  };
  const ids = createWebhookIds(failing, randomUUID);
  await expect(Promise.all([ids.take(), ids.take()])).rejects.toThrow('disk full');
  fails = false;
  expect(await ids.take()).toBeGreaterThan(0);
});
