/** How receivers answer. */
import { type Answer, type Manner, MINUTE, SECOND } from './simulation.js';

/** What a hostile attempt costs the process in the benchmark's row hostile-accounts, where each ends its connection. */
const HOSTILE_CPU_MS = 1.7;
export const DEAR_CPU_MS = 20;

/** Always so. */
export function answers(ms: number, more: Partial<Answer> = {}): Manner {
  const answer: Answer = { ms, signal: 'succeeded', ...more };
  return () => answer;
}

/** Each account has three of these. */
export const HOSTILE: readonly Manner[] = [
  // Hangs.
  hostile(15 * SECOND, 'failed'),
  // Hangs in TLS.
  hostile(15 * SECOND, 'unreachable'),
  // A byte a second, cut off.
  hostile(4 * SECOND, 'failed'),
  // Endless headers that end as 2xx.
  hostile(14 * SECOND, 'succeeded'),
  // No HTTP.
  hostile(3, 'failed'),
  // Resets.
  hostile(3, 'unreachable'),
  // Late, and just in time.
  hostile(2 * SECOND, 'succeeded'),
  hostile(900, 'succeeded'),
];

/** The same with receivers that keep their connections: errors, throttling and 2xx just in time. */
export const KEEPING: readonly Manner[] = [
  answers(3, { signal: 'failed', keeps: true }),
  answers(900, { signal: 'failed', keeps: true }),
  answers(3, { signal: 'refused' }),
  answers(900),
  answers(2 * SECOND),
];

function hostile(ms: number, signal: Answer['signal']): Manner {
  return answers(ms, { signal, cpuMs: HOSTILE_CPU_MS, closes: true });
}

/** Quick until its window is open and its mean is short; then all hang, again and again. */
export function pulsing(hangMs: number, signal: 'succeeded' | 'failed'): Manner {
  let attempts = 0;
  return () => {
    attempts += 1;
    return attempts % 38 < 22 ? { ms: 1, signal: 'succeeded' } : { ms: hangMs, signal };
  };
}

/** 24 quick ones; then some hang just in time, one quick 500, one quick 200, again and again. */
export function resetting(hangs: number, hangMs: number): Manner {
  let attempts = 0;
  return () => {
    attempts += 1;
    const nth = attempts <= 24 ? -1 : (attempts - 25) % (hangs + 2);
    const isHanging = nth >= 0 && nth < hangs;
    return { ms: isHanging ? hangMs : 1, signal: nth === hangs ? 'failed' : 'succeeded' };
  };
}

/** One of so many fails. */
export function failingOneOf(count: number): Manner {
  let attempts = 0;
  return () => {
    attempts += 1;
    return { ms: 10, signal: attempts % count === 0 ? 'failed' : 'succeeded' };
  };
}

/** Takes so many a second, and as many at once; 429 for the rest. */
export function taking(perSecond: number, retryAfterMs?: number): Manner {
  let [tokens, filledAt] = [perSecond, 0];
  return (now) => {
    tokens = Math.min(perSecond, tokens + ((now - filledAt) * perSecond) / SECOND);
    filledAt = now;
    if (tokens < 1) return { ms: 10, signal: 'refused', ...(retryAfterMs ? { retryAfterMs } : {}) };
    tokens -= 1;
    return { ms: 10, signal: 'succeeded' };
  };
}

/** Well, except in that time. */
export function meanwhile(from: number, until: number, answer: Answer): Manner {
  const well = answers(10);
  return (now) => (now >= from && now < until ? answer : well(now));
}

export const IN_MAINTENANCE: Answer = { ms: 10, signal: 'refused', retryAfterMs: MINUTE };
export const AWAY: Answer = { ms: 3, signal: 'unreachable' };
