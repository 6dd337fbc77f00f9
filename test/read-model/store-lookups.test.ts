import { StoreLookups, TooManyLookups } from '../../src/read-model/store-lookups.js';

let now = 0;
let searches = 0;
let passes = 0;
let pass: () => Promise<void>;
let lookups: StoreLookups;

beforeEach(() => {
  now = 0;
  searches = 0;
  passes = 0;
  pass = () => Promise.reject(new Error('the read model lags'));
  lookups = new StoreLookups(
    () => now,
    () => {
      passes += 1;
      return pass();
    },
  );
});

const byId = <T>(stream: string, id: string, search: () => Promise<T | undefined>) =>
  lookups.find({ stream, id, known: () => undefined, search });

const absent = async () => {
  searches += 1;
  return undefined;
};

/** How many of them were admitted, each of an id of its own. */
async function admitted(count: number, stream = 'account-42'): Promise<number> {
  const before = searches;
  for (let n = 0; n < count; n += 1) {
    await byId(stream, `${stream} ${now} ${n}`, absent).catch((error: unknown) => {
      if (!(error instanceof TooManyLookups)) throw error;
    });
  }
  return searches - before;
}

describe('lookups in the event store', () => {
  it('are limited to 10 per second for each account', async () => {
    expect(await admitted(50)).toBe(10);
    now = 1_000;
    expect(await admitted(50)).toBe(10);
    expect(await admitted(50, 'account-43')).toBe(10);
  });

  it('are limited to 200 per second for the process, of which an account beyond its limit uses nothing', async () => {
    expect(await admitted(1_000, 'account-0')).toBe(10);
    let all = 10;
    for (let account = 1; account < 50; account += 1) all += await admitted(50, `account-${account}`);
    expect(all).toBe(200);
  });

  it('are rejected with the time until the next one is admitted', async () => {
    await admitted(10);
    const error = await byId('account-42', 'next', absent).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ retryAfterMs: 100 });
    now = 100;
    expect(await byId('account-42', 'next', absent)).toBeUndefined();
  });

  it('are not repeated for an id that the store lacks, nor counted', async () => {
    for (let n = 0; n < 100; n += 1) expect(await byId('account-42', 'revoked', absent)).toBeUndefined();
    expect(searches).toBe(1);
  });

  it('are repeated for an id that was found, or whose lookup failed', async () => {
    const failing = () => Promise.reject(new Error('unavailable'));
    await expect(byId('account-42', 'new', failing)).rejects.toThrow('unavailable');
    for (let n = 0; n < 2; n += 1) expect(await byId('account-42', 'new', async () => 'found')).toBe('found');
  });

  it('are not needed for what the read model has', async () => {
    await admitted(10);
    expect(await lookups.find({ stream: 'account-42', known: () => 'found', search: absent })).toBe('found');
    expect(passes).toBe(0);
  });
});

describe('beyond the limit', () => {
  beforeEach(() => admitted(10));

  /** Of a new id each. */
  const lookUp = (known: () => string | undefined) => lookups.find({ stream: 'account-42', known, search: absent });

  it('an id is found that the read model has once it has passed the head of the store', async () => {
    let isPassed = false;
    pass = async () => {
      isPassed = true;
    };
    expect(await lookUp(() => (isPassed ? 'new' : undefined))).toBe('new');
    expect(searches).toBe(10);
  });

  it('an id does not exist that the read model lacks after that', async () => {
    pass = async () => undefined;
    expect(await lookUp(() => undefined)).toBeUndefined();
  });

  it('one request for the head serves all that waited for it to start, and no later one', async () => {
    let resolve = () => {};
    const passing = new Promise<void>((fulfil) => {
      resolve = fulfil;
    });
    pass = () => passing;
    const first = lookUp(() => undefined);
    await Promise.resolve();
    const others = Array.from({ length: 1_000 }, () => lookUp(() => undefined));
    pass = async () => undefined;
    resolve();
    await Promise.all([first, ...others]);
    expect(passes).toBe(2);
  });

  it('a lookup is rejected if the read model lags', async () => {
    await expect(lookUp(() => undefined)).rejects.toThrow(TooManyLookups);
  });
});
