import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createFingerprints } from '../../src/idempotency/fingerprint.js';
import {
  createIdempotencyKeys,
  type IdempotencyKeys,
  type Performed,
  type Prepared,
} from '../../src/idempotency/idempotency-keys.js';
import { type EventStore, StoreUnavailable } from '../../src/ports/event-store.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { openSqliteStore } from '../support/sqlite-store.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const HOURS = 3_600_000;
const directory = temporaryDirectory();
const { store, close } = openSqliteStore(directory.path);
const [oldKey, newKey] = [masterKey(Buffer.alloc(32, 1)), masterKey(Buffer.alloc(32, 2))];

let clock = Date.parse('2026-11-21T09:00:00.000Z');
let keys: IdempotencyKeys;
let performed: string[];
let key = '';

beforeEach(() => {
  keys = process1();
  performed = [];
  key = randomUUID();
});

afterAll(async () => {
  await close();
  directory.remove();
});

/** As another process would have it, or the same one after a restart. */
function process1(over: EventStore = store, masterKeys: Parameters<typeof createFingerprints>[0] = [oldKey]) {
  const fingerprints = createFingerprints(masterKeys);
  return createIdempotencyKeys({ store: over, fingerprints, newEventId: randomUUID, now: () => new Date(clock) });
}

const use = (content = 'a', accountId = 42) => ({ accountId, key, content });

/** Performs, and answers with how often that was. */
const done = ready(async () => {
  performed.push('done');
  return { kind: 'done', answer: { status: 200, message: `answer ${performed.length}` } };
});
const refused = ready(async () => ({ kind: 'refused', why: 'the limit' }));
const crash = ready(() => Promise.reject(new Error('crashed')));
const refusedBefore = async (): Promise<Prepared<string>> => ({ kind: 'refused', why: 'the URL' });

function ready(perform: () => Promise<Performed<string>>): () => Promise<Prepared<string>> {
  return async () => ({ kind: 'ready', perform });
}

const answered = (kind: 'done' | 'replayed', message: string) => ({ kind, answer: { status: 200, message } });

/** Gives way to `first` before the append of that type. */
function overtaken(type: string, first: () => Promise<unknown>): EventStore {
  let waiting = true;
  return {
    read: (...args) => store.read(...args),
    subscribe: (...args) => store.subscribe(...args),
    close: () => store.close(),
    async append(stream, events, revision) {
      if (waiting && events[0]?.type === type) {
        waiting = false;
        await first();
      }
      return store.append(stream, events, revision);
    },
  };
}

describe('the same request', () => {
  it('is performed once, and answered the same by any process and after a restart', async () => {
    expect(await keys.once(use(), done)).toEqual(answered('done', 'answer 1'));
    for (const asked of [keys, process1(), process1()]) {
      expect(await asked.once(use(), done)).toEqual(answered('replayed', 'answer 1'));
    }
    expect(performed).toHaveLength(1);
  });

  it('is performed anew 24 h after the answer, and not before', async () => {
    await keys.once(use(), done);
    clock += 24 * HOURS - 1;
    expect(await keys.once(use(), done)).toEqual(answered('replayed', 'answer 1'));
    clock += 1;
    expect(await keys.once(use(), done)).toEqual(answered('done', 'answer 2'));
    expect(await keys.once(use(), done)).toEqual(answered('replayed', 'answer 2'));
  });

  it('is performed again where nothing was heard of the first time', async () => {
    await expect(keys.once(use(), crash)).rejects.toThrow('crashed');
    expect(await process1().once(use(), done)).toEqual(answered('done', 'answer 1'));
    expect(await keys.once(use(), done)).toEqual(answered('replayed', 'answer 1'));
  });

  it('many times at once in one process is performed once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => keys.once(use(), done)));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['done', ...Array<string>(9).fill('replayed')]);
    expect(performed).toHaveLength(1);
  });

  it('at once in two processes is answered by the first answer that was kept', async () => {
    const slow = process1(overtaken('IdempotentAnswerKept', () => keys.once(use(), done)));
    const late = ready(async () => ({ kind: 'done', answer: { status: 200, message: 'late' } }));
    expect(await slow.once(use(), late)).toEqual(answered('replayed', 'answer 1'));
  });

  it('that loses the race for the key is performed all the same, the command being safe to repeat', async () => {
    const slow = process1(overtaken('IdempotencyKeyUsed', () => keys.once(use(), crash).catch(() => undefined)));
    expect(await slow.once(use(), done)).toEqual(answered('done', 'answer 1'));
  });
});

describe('another request under the key', () => {
  it('is refused, be the first answered or not', async () => {
    await expect(keys.once(use('a'), crash)).rejects.toThrow('crashed');
    expect(await keys.once(use('b'), done)).toEqual({ kind: 'other-request' });
    await keys.once(use('a'), done);
    expect(await process1().once(use('b'), done)).toEqual({ kind: 'other-request' });
    expect(performed).toHaveLength(1);
  });

  it('is performed 24 h later, be the first answered or not', async () => {
    await expect(keys.once(use('a'), crash)).rejects.toThrow('crashed');
    clock += 24 * HOURS;
    expect(await keys.once(use('b'), done)).toEqual(answered('done', 'answer 1'));
    clock += 24 * HOURS;
    expect(await keys.once(use('a'), done)).toEqual(answered('done', 'answer 2'));
  });

  it('is performed after a refusal: nothing is kept of one', async () => {
    expect(await keys.once(use('a'), refused)).toEqual({ kind: 'refused', why: 'the limit' });
    expect(await keys.once(use('b'), done)).toEqual(answered('done', 'answer 1'));
  });

  it('that loses the race for the key is refused', async () => {
    const slow = process1(overtaken('IdempotencyKeyUsed', () => keys.once(use('a'), done)));
    expect(await slow.once(use('b'), done)).toEqual({ kind: 'other-request' });
    expect(performed).toHaveLength(1);
  });

  it('that came between a refusal and an answer elsewhere keeps the key; the answer is given all the same', async () => {
    const between = async () => {
      await keys.once(use('a'), refused);
      await keys.once(use('b'), done);
    };
    const slow = process1(overtaken('IdempotentAnswerKept', between));
    expect(await slow.once(use('a'), done)).toEqual(answered('done', 'answer 1'));
    expect(await keys.once(use('b'), done)).toEqual(answered('replayed', 'answer 2'));
  });
});

describe('what is refused before the key is reserved', () => {
  const REFUSED = { kind: 'refused', why: 'the URL' };

  /** The events that are written while this runs. */
  async function written(work: (over: IdempotencyKeys) => Promise<unknown>): Promise<string[]> {
    const types: string[] = [];
    const recording: EventStore = {
      ...overtaken('', done),
      append: (stream, events, revision) => {
        types.push(...events.map(({ type }) => type));
        return store.append(stream, events, revision);
      },
    };
    await work(process1(recording));
    return types;
  }

  it('writes nothing, however often it is asked for, and leaves the key free', async () => {
    const types = await written(async (over) => {
      for (let n = 0; n < 3; n += 1) expect(await over.once(use('a'), refusedBefore)).toEqual(REFUSED);
    });
    expect(types).toEqual([]);
    expect(await keys.once(use('b'), done)).toEqual(answered('done', 'answer 1'));
  });

  it('frees a key that was in use for it, once', async () => {
    await expect(keys.once(use('a'), crash)).rejects.toThrow('crashed');
    const types = await written(async (over) => {
      for (let n = 0; n < 3; n += 1) expect(await over.once(use('a'), refusedBefore)).toEqual(REFUSED);
    });
    expect(types).toEqual(['IdempotencyKeyReleased']);
  });

  it('is not asked where there is an answer already', async () => {
    await keys.once(use('a'), done);
    expect(await keys.once(use('a'), refusedBefore)).toEqual(answered('replayed', 'answer 1'));
    expect(await keys.once(use('b'), refusedBefore)).toEqual({ kind: 'other-request' });
  });
});

it('a key belongs to its account', async () => {
  await keys.once(use('a', 42), done);
  expect(await keys.once(use('b', 43), done)).toEqual(answered('done', 'answer 2'));
  expect(await keys.once(use('a', 42), done)).toEqual(answered('replayed', 'answer 1'));
});

it('outlives a change of the master key for as long as the one before it is there', async () => {
  await keys.once(use('a'), done);
  const changed = process1(store, [newKey, oldKey]);
  expect(await changed.once(use('a'), done)).toEqual(answered('replayed', 'answer 1'));
  expect(await changed.once(use('b'), done)).toEqual({ kind: 'other-request' });
  expect(await process1(store, [newKey]).once(use('a'), done)).toEqual({ kind: 'other-request' });
});

it('what the store refuses is in doubt, and goes to whoever asked', async () => {
  const down: EventStore = {
    ...overtaken('', done),
    append: () => Promise.reject(new StoreUnavailable('down')),
  };
  await expect(process1(down).once(use(), done)).rejects.toThrow(StoreUnavailable);
  expect(performed).toEqual([]);
  expect(await keys.once(use(), done)).toEqual(answered('done', 'answer 1'));
});

it('keeps neither the key nor what was asked for in clear', async () => {
  key = 'a-client-chose-this';
  await keys.once(use('a header value'), done);
  const ended = new AbortController();
  const kept: string[] = [];
  for await (const { events, caughtUp } of store.subscribe({ after: null, streamPrefix: '', signal: ended.signal })) {
    kept.push(...events.map((event) => JSON.stringify(event)));
    if (caughtUp) ended.abort();
  }
  expect(kept.filter((event) => event.includes('"idempotency-42-'))).not.toEqual([]);
  for (const secret of ['a-client-chose-this', 'a header value']) expect(kept.join()).not.toContain(secret);
});
