/** Which test runs, as jest sees it: by a field where tests run one after the other, by its storage where they don't. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { watchRunningTest } from './running-test.js';

const ONE = { test: { name: 'one' } };
const TWO = { test: { name: 'two' } };

let storage: AsyncLocalStorage<unknown>;
let letGo: () => void;

beforeEach(() => {
  letGo = watchRunningTest();
  storage = new AsyncLocalStorage();
});

afterEach(() => letGo());

const afterATurn = async () => {
  await turn();
  return storage.getStore();
};

test('one after the other: each is known, also after it waited, and none afterwards', async () => {
  expect(await storage.run(ONE, afterATurn)).toBe(ONE);
  expect(await storage.run(TWO, afterATurn)).toBe(TWO);
  expect(storage.getStore()).toBeUndefined();
});

test('a hook within a test, and the test again after it', async () => {
  const hook = { ...ONE, hook: {} };
  const seen = await storage.run(ONE, async () => [await storage.run(hook, afterATurn), await afterATurn()]);
  expect(seen).toEqual([hook, ONE]);
});

test('concurrently: each knows itself', async () => {
  expect(await Promise.all([storage.run(ONE, afterATurn), storage.run(TWO, afterATurn)])).toEqual([ONE, TWO]);
});

test('a test that fails is no longer the running one', async () => {
  const failing = async () => Promise.reject(new Error('no'));
  await expect(storage.run(ONE, failing)).rejects.toThrow('no');
  expect(storage.getStore()).toBeUndefined();
});

test('other storages work as ever', async () => {
  expect(await storage.run('something', afterATurn)).toBe('something');
});

test('a test that runs alone makes no promise dearer: no storage is enabled', async () => {
  // Undefined where storages cost promises nothing (Node 24).
  const isEnabled = () => (storage as unknown as { enabled?: boolean }).enabled;
  expect(await storage.run(ONE, async () => isEnabled())).not.toBe(true);
});
