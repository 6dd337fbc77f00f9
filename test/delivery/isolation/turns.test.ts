import { Turns } from '../../../src/delivery/isolation/endpoint-queues.js';

interface Account {
  readonly name: string;
  underWay: number;
}

interface Url {
  readonly name: string;
  readonly account: Account;
}

let turns: Turns<Account, Url>;
beforeEach(() => {
  turns = new Turns();
});

const account = (name: string, underWay = 0): Account => ({ name, underWay });
const url = (of: Account, name = ''): Url => ({ name: of.name + name, account: of });

/** Each goes to the end after its turn. */
function names(count: number): string[] {
  return Array.from({ length: count }, () => {
    const { next } = turns;
    if (!next) return '-';
    turns.hadTurn(next);
    turns.add(next);
    return next.name;
  });
}

function waits(...urls: readonly Url[]): void {
  for (const one of urls) turns.add(one);
}

test('nobody is next where nobody waits', () => {
  const [a] = [url(account('a'))];
  expect(turns.next).toBeUndefined();
  waits(a);
  turns.delete(a);
  expect(turns.next).toBeUndefined();
});

test('accounts take turns, and so do the endpoints of one', () => {
  const [a, b] = [account('a'), account('b')];
  waits(url(a, '1'), url(a, '2'), url(b, '1'));
  expect(names(6)).toEqual(['a1', 'b1', 'a2', 'b1', 'a1', 'b1']);
});

test('the account with the fewest attempts in progress is next', () => {
  const [a, b, c] = [account('a', 2), account('b', 1), account('c', 3)];
  waits(url(a), url(b), url(c));
  expect(turns.next?.name).toBe('b');
  b.underWay = 5;
  turns.moved(b);
  expect(turns.next?.name).toBe('a');
  c.underWay = 0;
  turns.moved(c);
  expect(turns.next?.name).toBe('c');
});

test('an account whose attempts change all the time keeps its seniority: its new URL gets its turn', () => {
  const others = Array.from({ length: 100 }, (_, n) => account(`other${n}`));
  const busy = account('busy');
  waits(...others.slice(0, 50).map((one) => url(one)), url(busy), ...others.slice(50).map((one) => url(one)));
  const seen: string[] = [];
  for (let turn = 0; turn < 60; turn += 1) {
    for (const underWay of [1, 2, 1, 0]) {
      busy.underWay = underWay;
      turns.moved(busy);
    }
    seen.push(...names(1));
  }
  expect(seen.indexOf('busy')).toBe(50);
});

test('what is no longer true takes no memory for long, and changes nothing', () => {
  const [a, b] = [account('a'), account('b')];
  waits(url(a), url(b));
  for (let n = 0; n < 10_000; n += 1) {
    a.underWay = n % 7;
    turns.moved(a);
  }
  expect(turns.next?.name).toBe('b');
  a.underWay = 0;
  turns.moved(a);
  expect(turns.next?.name).toBe('a');
});
