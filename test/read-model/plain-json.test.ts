import { charactersOf, copyOf } from '../../src/read-model/fold.js';

const STATE = {
  accountId: 42,
  name: null,
  isActive: true,
  webhooks: [
    { id: 1, headers: [{ key: 'X-Api-Key', sealed: 'v1.a.b' }] },
    { id: 2, headers: [] },
  ],
};

describe('a copy', () => {
  it('is the same, and shares nothing that can be changed', () => {
    const copy = copyOf(STATE);
    expect(copy).toEqual(STATE);
    expect(copy).not.toBe(STATE);
    expect(copy.webhooks).not.toBe(STATE.webhooks);
    expect(copy.webhooks[0]?.headers[0]).not.toBe(STATE.webhooks[0]?.headers[0]);
  });

  it('keeps names that objects have of their own accord', () => {
    const parsed = JSON.parse('{"__proto__":{"a":1},"constructor":"c","toString":2}') as object;
    const copy = copyOf(parsed);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(parsed));
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  it.each([null, 1, 'a', true, [], {}, [[1], {}]])('of %j', (value) => {
    expect(copyOf(value)).toEqual(value);
  });
});

describe('a measure', () => {
  it('is near that of the JSON', () => {
    const large = Array.from({ length: 100 }, (_, id) => ({ ...STATE, id, text: 'x'.repeat(id * 100) }));
    for (const value of [STATE, large]) {
      const actual = JSON.stringify(value).length;
      expect(charactersOf(value)).toBeGreaterThan(0.9 * actual);
      expect(charactersOf(value)).toBeLessThan(1.3 * actual);
    }
  });
});
