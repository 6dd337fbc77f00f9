import { type RetryOptions, retry } from '../../src/time/retry.js';

const MINUTE = 60_000;

/** Runs `work` until it has been called `times` times; pauses take no time. */
async function run(times: number, work: (call: number) => void, options: Partial<RetryOptions> = {}) {
  const stopping = new AbortController();
  const pauses: number[] = [];
  const failures: string[] = [];
  let calls = 0;
  const called = async () => {
    calls += 1;
    if (calls === times) stopping.abort();
    work(calls);
  };
  await retry(called, {
    signal: stopping.signal,
    failed: (error) => failures.push((error as Error).message),
    pause: async (ms) => void pauses.push(ms),
    ...options,
  });
  return { pauses, failures, calls };
}

test('runs the work again a second after its end, whether it failed or not', async () => {
  const fails = (call: number) => {
    if (call === 2) throw new Error('once');
  };
  expect(await run(4, fails)).toEqual({ pauses: [1_000, 1_000, 1_000], failures: ['once'], calls: 4 });
});

test('doubles the pause up to the longest, and begins anew after work that lasted that long', async () => {
  let now = 0;
  const work = (call: number) => {
    if (call === 9) now += MINUTE;
    throw new Error('refused');
  };
  const { pauses } = await run(11, work, { longestPauseMs: MINUTE, now: () => now });
  expect(pauses.map((ms) => ms / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 1, 2]);
});

test('reports no failure after the signal, and pauses no more', async () => {
  const fails = () => {
    throw new Error('stopped');
  };
  expect(await run(1, fails)).toEqual({ pauses: [], failures: [], calls: 1 });
});
