import { setImmediate as turn } from 'node:timers/promises';

jest.setTimeout(50);

/** Gone in JavaScript: the lines below have other numbers there. */
interface Counted {
  readonly count: number;
}

const counted: Counted = { count: 1 };

test('fails', () => expect(counted.count).toBe(2));

test('hangs', () => new Promise(() => undefined));

test('rejects unnoticed', async () => {
  void Promise.reject(new Error('nobody looked'));
  await turn();
});
