/** How many slow attempts an account may have in flight. */
import type { SchedulerParts } from '../../../src/delivery/isolation/delivery-scheduler.js';
import { SchedulerScene } from '../../support/scenes/scheduler-scene.js';

const SECOND = 1_000;
const HOLD_MS = 50;

let scene: SchedulerScene;
function open(parts: Partial<SchedulerParts> = {}): void {
  scene = new SchedulerScene(parts);
}

/** Deliveries to so many proven endpoints of an account, one after the other, which all hang. */
async function hang(account: number, urls: number): Promise<void> {
  for (let n = 0; n < urls; n += 1) await scene.attempts(`${account}/hangs${n}`, 'succeeded');
  for (let n = 0; n < urls; n += 1) {
    await scene.come(`${account}/hangs${n}`);
    await scene.goOn(HOLD_MS);
  }
}

function slowOf(account: number): number {
  return scene.inFlight.filter(({ key }) => key.startsWith(`${account}/`)).length;
}

describe('an account with eight slow attempts', () => {
  beforeEach(async () => {
    open({ slots: 256 });
    await scene.attempts('7/proven', 'succeeded');
    for (let n = 0; n < 8; n += 1) {
      await scene.come(`7/hangs${n}`);
      await scene.goOn(HOLD_MS);
    }
    expect(slowOf(7)).toBe(8);
  });

  test('begins none on probation, until one of them has left', async () => {
    await scene.come('7/new');
    expect(scene.inFlightOf('7/new')).toBe(0);
    await scene.end('failed', '7/hangs3');
    expect(scene.inFlightOf('7/new')).toBe(1);
  });

  test('begins some to what is proven, and another account begins all', async () => {
    await scene.come('7/proven');
    await scene.come('8/new');
    expect(scene.began.slice(-2)).toEqual(['7/proven', '8/new']);
  });

  test('has deferred what was queued for a minute meanwhile', async () => {
    await scene.come('7/new');
    await scene.goOn(60 * SECOND);
    expect(scene.deferred).toEqual([{ key: '7/new', kind: 'deferred', why: 'queue', pausedMs: 0, turnMs: 0 }]);
    expect(scene.scheduler.state).toMatchObject({ active: 8, waiting: 0, waitingBytes: 0 });
  });
});

test('an account has half of the slow attempts that are left, of four for each slot', async () => {
  open({ slots: 16 });
  await hang(7, 60);
  // Of 64: with 22 in flight, 42 are left, and half of them are less than 22.
  expect(slowOf(7)).toBe(22);
  await hang(8, 60);
  // 42 - 14 = 28, of which 14 are half.
  expect(slowOf(8)).toBe(14);
});

test('any account has eight while any are left, and one where none is', async () => {
  open({ slots: 4 });
  for (const account of [7, 8]) await hang(account, 20);
  expect([7, 8].map(slowOf)).toEqual([8, 8]);
  await hang(9, 20);
  expect(slowOf(9)).toBe(1);
});

test('an attempt that has ended is not slow, although its result is not durable yet', async () => {
  open({ slots: 256 });
  for (let n = 0; n < 8; n += 1) await scene.come(`7/${n}`);
  await scene.goOn(HOLD_MS);
  await scene.come('7/new');
  expect(scene.inFlightOf('7/new')).toBe(0);
  scene.inFlight[0]?.ended({ signal: 'succeeded' });
  await scene.goOn(HOLD_MS);
  expect(scene.inFlightOf('7/new')).toBe(1);
});
