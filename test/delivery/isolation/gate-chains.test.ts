import type { Admission } from '../../../src/delivery/isolation/endpoint.js';
import { testGate } from '../../support/test-gate.js';

const URL = 'https://shop.example.com/hook';
const gate = testGate();
afterAll(() => gate.close());

const come = (delivery: string, chain: number) => gate.enter(42, URL, { bytes: 10, delivery, chain });
const leave = (entry: Admission) => entry.kind === 'entered' && entry.leave();

test('a later chain has the place of an earlier one in line, also where the line has no room', async () => {
  const first = await come('a', 0);
  const [earlier, other] = [come('b', 0), come('c', 0)];
  const full = Array.from({ length: 2_000 }, (_, n) => come(`full ${n}`, 0));
  expect(await full.at(-1)).toMatchObject({ kind: 'refused', why: 'line-full' });
  const { waiting, waitingBytes } = gate;
  const later = come('b', 3);
  expect(await earlier).toMatchObject({ kind: 'refused', why: 'line-full' });
  expect([gate.waiting, gate.waitingBytes]).toEqual([waiting, waitingBytes]);
  leave(first);
  leave(await later);
  expect(await other).toMatchObject({ kind: 'entered' });
});
