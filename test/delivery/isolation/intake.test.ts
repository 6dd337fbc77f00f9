import { beforeEach, describe, expect, test } from '@jest/globals';
import { Intake } from '../../../src/delivery/isolation/intake.js';

const MIB = 1024 * 1024;

/** How things stand. */
let now: { waiting: number; waitingBytes: number; busy: boolean; ms: number; asked: number };
/** What waits for endpoints that have ended nothing since so long, ms. */
let standing: { waiting: number; waitingBytes: number; since: number };
let intake: Intake;

beforeEach(() => {
  now = { waiting: 0, waitingBytes: 0, busy: true, ms: 0, asked: 0 };
  const isBusy = () => {
    now.asked += 1;
    return now.busy;
  };
  standing = { waiting: 0, waitingBytes: 0, since: 0 };
  const none = { waiting: 0, waitingBytes: 0 };
  const gate = {
    get waiting() {
      return now.waiting;
    },
    get waitingBytes() {
      return now.waitingBytes;
    },
    standing: (forMs: number) => (now.ms - standing.since >= forMs ? standing : none),
  };
  intake = new Intake({ gate, isBusy, now: () => now.ms });
});

function mayBeginAt(waiting: number): boolean {
  now.waiting = waiting;
  return intake.mayBegin();
}

/** Asked every 10 ms, while the lines get so much shorter each time: the ms for which it said no. */
function heldFor(ms: number, fallsBy: number): number {
  let held = 0;
  for (const end = now.ms + ms; now.ms < end; now.ms += 10) {
    if (!mayBeginAt(now.waiting - fallsBy)) held += 10;
  }
  return held;
}

test('records are taken while few deliveries wait, however busy the process is', () => {
  for (let waiting = 0; waiting <= 1_500; waiting += 1) expect(mayBeginAt(waiting)).toBe(true);
  expect(now.asked).toBe(0);
});

test('they are taken while the process has time, however many wait: it is endpoints that are slow', () => {
  now.busy = false;
  expect(mayBeginAt(7_500)).toBe(true);
});

test('where many wait and the process is busy they are held, until few wait', () => {
  expect([1_500, 1_501, 1_500, 501, 500, 501, 1_500, 1_501].map(mayBeginAt)).toEqual([
    ...[true, false, false, false],
    ...[true, true, true, false],
  ]);
  expect(intake.isHeld).toBe(true);
});

test('or until the process has time', () => {
  expect(mayBeginAt(2_000)).toBe(false);
  now.busy = false;
  expect(mayBeginAt(2_000)).toBe(true);
  expect(intake.isHeld).toBe(false);
});

test('large events are many when they have 8 MiB together', () => {
  now.waitingBytes = 8 * MIB;
  expect(mayBeginAt(400)).toBe(true);
  now.waitingBytes += 1;
  expect(mayBeginAt(400)).toBe(false);
  now.waitingBytes = 2 * MIB;
  expect(mayBeginAt(100)).toBe(true);
});

describe('where the process is busy with something else, and what waits waits for slow endpoints', () => {
  test.each([0, 1, 4])(
    'it is held for a moment every five seconds: the lines get shorter by %d in 10 ms',
    (fallsBy) => {
      now.waiting = 6_000;
      expect(heldFor(10_000, fallsBy)).toBeLessThanOrEqual(2 * 220);
    },
  );

  test('it is held for two looks, 20 ms, where they have ended nothing for a second', () => {
    standing = { waiting: 5_900, waitingBytes: 0, since: -1_000 };
    now.waiting = 6_000;
    expect(heldFor(10_000, 0)).toBe(20);
  });

  test('it is held longer where they have ended something since', () => {
    standing = { waiting: 5_900, waitingBytes: 0, since: -500 };
    now.waiting = 6_000;
    expect(heldFor(100, 0)).toBe(100);
  });

  /** So that the next look is believed. */
  function lookFirst(): void {
    expect(mayBeginAt(now.waiting || 6_000)).toBe(false);
    now.ms += 20;
  }

  test('what has moved by the second look does not stand: after a standstill of the process every line looks so', () => {
    standing = { waiting: 5_900, waitingBytes: 0, since: -8_000 };
    lookFirst();
    standing.since = now.ms - 1;
    expect(mayBeginAt(6_000)).toBe(false);
  });

  test('nor does what had moved by the first', () => {
    standing = { waiting: 5_900, waitingBytes: 0, since: -990 };
    lookFirst();
    expect(mayBeginAt(6_000)).toBe(false);
    now.ms = 40;
    expect(mayBeginAt(6_000)).toBe(true);
  });

  test('a first look that was long ago says nothing', () => {
    standing = { waiting: 5_900, waitingBytes: 0, since: -8_000 };
    lookFirst();
    now.ms = 101;
    expect(mayBeginAt(6_000)).toBe(false);
    now.ms = 121;
    expect(mayBeginAt(6_000)).toBe(true);
  });

  test('what waits for others counts: above 1,500 of it are held, until 500 of it are left', () => {
    standing = { waiting: 3_000, waitingBytes: 0, since: -1_000 };
    lookFirst();
    expect([4_501, 3_501, 3_500, 4_500, 4_501, 4_500].map(mayBeginAt)).toEqual([
      ...[false, false, true, true, false, false],
    ]);
  });

  test('their bytes are left out, too, and no bytes of others for their places', () => {
    standing = { waiting: 3_000, waitingBytes: 16 * MIB, since: -1_000 };
    now.waitingBytes = 24 * MIB;
    now.waiting = 3_100;
    lookFirst();
    now.waitingBytes = 18 * MIB;
    expect(mayBeginAt(3_100)).toBe(true);
    now.waitingBytes = 24 * MIB + 1;
    expect(mayBeginAt(3_100)).toBe(false);
  });

  test('what comes on top of that is held, and ends when that has ended', () => {
    now.waiting = 2_000;
    heldFor(300, 0);
    expect([3_500, 3_501, 2_501, 2_500].map(mayBeginAt)).toEqual([true, false, false, true]);
  });

  test('where the lines do get shorter it stays held', () => {
    now.waiting = 7_000;
    expect(heldFor(1_000, 6)).toBe(1_000);
  });

  test('a standstill of the process in the middle says nothing', () => {
    now.waiting = 7_000;
    heldFor(150, 10);
    now.ms += 400;
    expect(heldFor(300, 10)).toBe(300);
  });
});
