/**
 * Whatever is asked, and whichever process dies or stands still: nothing that was given up is lost to recovery or replay, and
 * nothing is sent that was cancelled. SENT_AGAIN_SEED repeats one run, and prints its trace; SENT_AGAIN_RUNS makes it longer.
 */
import { type Day, type Played, play } from '../../support/sent-again/play.js';
import type { Planted } from '../../support/sent-again/settings.js';
import { inFull } from '../../support/thorough.js';

const RUNS = Number(process.env.SENT_AGAIN_RUNS ?? inFull(60, 6, 120));
/** Until a planted defect has to be found. */
const MOST_RUNS = 200;
const SEED = process.env.SENT_AGAIN_SEED;

interface Found {
  readonly day: Day;
  readonly played: Played;
}

async function firstBroken(runs: number, day: Omit<Day, 'seed'>): Promise<Found | null> {
  const from = Number(SEED ?? 1);
  for (let seed = from; seed < from + (SEED === undefined ? runs : 1); seed += 1) {
    const found = { day: { ...day, seed }, played: await play({ ...day, seed }) };
    if (found.played.violations.length > 0) return found;
  }
  return null;
}

/** The seed, what is broken, and what led to it. */
function told({ day, played }: Found): string {
  const why = played.violations.map(({ invariant, why, at }) => `${at} ${invariant}: ${why}`);
  return [JSON.stringify(day), ...why, ...(SEED === undefined ? [] : played.trace)].join('\n');
}

test.each<Omit<Day, 'seed'>>([{}, { bias: 'pauses' }, { bias: 'kills' }, { bias: 'freezes' }, { mostRemembered: 5 }])(
  'no promise is broken: %j',
  async (day) => {
    const broken = await firstBroken(RUNS, day);
    expect(broken && told(broken)).toBeNull();
  },
);

test.each<[Planted, string, Day['bias']]>([
  ['asked-only-before-the-queue', 'I3', undefined],
  ['no-deferrals-in-the-identity', 'I1', undefined],
  ['one-maximum', 'I2', undefined],
  ['a-letter-replayed-once-only', 'I2', 'pauses'],
  ['no-head-confirmation', 'I1', 'pauses'],
  ['no-read-at-the-start', 'I3', 'kills'],
  ['no-ownership', 'I5', 'freezes'],
])('a planted defect is found: %s', async (planted, invariant, bias) => {
  const found = await firstBroken(MOST_RUNS, { planted, bias });
  expect(found?.played.violations.map((violation) => violation.invariant)).toContain(invariant);
});
