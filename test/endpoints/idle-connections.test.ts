import { IdleConnections } from '../../src/endpoints/idle-connections.js';

let connections = 0;

class Connection {
  readonly freeSince = ++connections;
  constructor(
    readonly origin: string,
    public accountId: number,
  ) {}
}

const SHOP = 'https://shop.example.com';
const BANK = 'https://bank.example.com';

let idle: IdleConnections<Connection>;
beforeEach(() => {
  idle = new IdleConnections(4);
});

function add(origin: string, accountId: number): Connection {
  const connection = new Connection(origin, accountId);
  expect(idle.add(connection)).toBeNull();
  return connection;
}

test('a request gets the connection of its origin that was used last', () => {
  const [first, second, other] = [add(SHOP, 1), add(SHOP, 1), add(BANK, 1)];
  expect([idle.take(SHOP), idle.take(SHOP), idle.take(SHOP)]).toEqual([second, first, undefined]);
  expect(idle.take(BANK)).toBe(other);
});

test('a connection that closed is not taken', () => {
  const [first, second] = [add(SHOP, 1), add(SHOP, 1)];
  idle.delete(second);
  idle.delete(second);
  expect([idle.take(SHOP), idle.take(SHOP)]).toEqual([first, undefined]);
});

test('beyond the limit the account with the most of them loses its oldest, whoever comes', () => {
  add(SHOP, 1);
  const oldest = add(SHOP, 2);
  const next = add(BANK, 2);
  add(SHOP, 3);
  expect(idle.add(new Connection(SHOP, 4))).toBe(oldest);
  idle.take(BANK);
  expect(idle.add(next)).toBeNull();
  const own = new Connection(BANK, 4);
  expect(idle.add(own)?.accountId).toBe(4);
  expect(idle.take(BANK)).toBe(own);
});

test('with a limit of none each is closed', () => {
  idle = new IdleConnections(0);
  const connection = new Connection(SHOP, 1);
  expect(idle.add(connection)).toBe(connection);
  expect(idle.to(SHOP)).toBe(0);
});

test('where many are kept, several are chosen at once, but one that was used again since then stays', () => {
  idle = new IdleConnections(100);
  const many = Array.from({ length: 90 }, (_, n) => add(`https://shop-${n}.example.com`, 1));
  for (let accountId = 2; accountId <= 11; accountId += 1) add(BANK, accountId);
  const closed = [idle.add(new Connection(BANK, 2))];
  const [, used] = many;
  if (!used) throw new Error('it was not added');
  idle.take(used.origin);
  connections += 1;
  expect(idle.add(Object.assign(used, { freeSince: connections }))).toBeNull();
  for (let n = 0; n < 9; n += 1) closed.push(idle.add(new Connection(BANK, 3)));
  expect(closed).toEqual(many.filter((one) => one !== used).slice(0, 10));
});

test('nothing is kept of an origin whose connections have closed, in use or not', () => {
  const [first, second] = [add(SHOP, 1), add(SHOP, 1)];
  idle.take(SHOP);
  idle.delete(second);
  idle.delete(first);
  expect(idle.origins).toBe(0);
});

test('a connection counts for the account that used it last', () => {
  const shared = add(SHOP, 1);
  add(BANK, 1);
  add(BANK, 2);
  add(BANK, 3);
  idle.take(SHOP);
  shared.accountId = 2;
  idle.add(shared);
  expect(idle.add(new Connection(SHOP, 3))?.accountId).not.toBe(1);
});

test('it tells how many an origin has', () => {
  add(SHOP, 1);
  add(SHOP, 2);
  expect([idle.to(SHOP), idle.to(BANK)]).toEqual([2, 0]);
  idle.take(SHOP);
  expect(idle.to(SHOP)).toBe(1);
});
