import { RecentByAccount } from '../../src/delivery/recent-by-account.js';

const keys = (count: number) => Array.from({ length: count }, (_, n) => `key ${n}`);

function remembered(recent: RecentByAccount, accountId: number, count: number): number {
  return keys(count).filter((key) => recent.has(accountId, key)).length;
}

describe('the keys of an account', () => {
  it('stay while it has at most an equal share, whatever another account adds', () => {
    const recent = new RecentByAccount(100);
    for (const key of keys(40)) recent.add(1, key);
    for (const key of keys(10_000)) recent.add(2, key);
    expect([remembered(recent, 1, 40), recent.has(2, 'key 9999')]).toEqual([40, true]);
  });

  it('may be more than an equal share while other accounts have few', () => {
    const recent = new RecentByAccount(100);
    for (let accountId = 2; accountId < 12; accountId += 1) recent.add(accountId, 'key 0');
    for (const key of keys(1_000)) recent.add(1, key);
    expect(remembered(recent, 1, 1_000)).toBeGreaterThanOrEqual(80);
  });

  it.each([1, 30, 500])('are together never more than the limit, with %s accounts', (accounts) => {
    const recent = new RecentByAccount(100);
    for (let n = 0; n < 5_000; n += 1) recent.add(n % accounts, `key ${n}`);
    const all = Array.from({ length: accounts }, (_, accountId) => remembered(recent, accountId, 5_000));
    expect(all.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(100);
  });

  it('stay up to an equal share of 90% of the limit, with many accounts that add far more', () => {
    const recent = new RecentByAccount(1_000);
    for (const key of keys(30)) recent.add(1, key);
    for (const key of keys(500)) {
      for (let accountId = 2; accountId <= 30; accountId += 1) recent.add(accountId, key);
    }
    expect(remembered(recent, 1, 30)).toBe(30);
  });

  it('stay in the accounts that added one last, with more accounts than keys', () => {
    const recent = new RecentByAccount(100);
    const known = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => recent.has(from + n, 'key')).filter(Boolean).length;
    const OLD = 1_000;
    for (let id = 0; id < 500; id += 1) {
      // An old account that continues is among the newest.
      if (id % 10 === 0) recent.add(OLD, `key ${id}`);
      recent.add(id, 'key');
      const oldest = Math.max(0, id - 40);
      expect(known(oldest, id + 1)).toBe(id + 1 - oldest);
    }
    expect([known(0, 390), recent.has(OLD, 'key 490')]).toEqual([0, true]);
  });

  it('leave oldest first', () => {
    const recent = new RecentByAccount(10);
    for (const key of keys(12)) recent.add(1, key);
    expect([recent.has(1, 'key 0'), recent.has(1, 'key 11')]).toEqual([false, true]);
  });
});
