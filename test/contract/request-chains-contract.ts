/** The contract of src/ports/request-chains.ts: every sentence of its comment is a case. */
import { type RequestChains, RequestChainsDamaged, type RequestedChain } from '../../src/ports/request-chains.js';
import type { ContractCase, Feature, Subject } from './contract.js';

type ChainsSubject = Subject<RequestChains>;
type ChainsCase = ContractCase<ChainsSubject>;

const ORIGIN = 'history-1 webhooks.requests';
const POSITION = { offset: 3, before: { offset: 2, timestamp: 1_000 } };
const LATER = { offset: 9, before: { offset: 8, timestamp: 2_000 } };
const ALWAYS = Number.POSITIVE_INFINITY;
/** Of many pages of a file, and of many slices of work. */
const MANY = 2_000;

const payment = (offset: number, partition = 0) =>
  `payment-events/${partition}/${offset}@${1_790_000_000_000 + offset}`;
const requested = (chain: number, offset = 7, delivery = 'msg_1'): RequestedChain => ({
  ...{ delivery, payment: payment(offset), chain, at: chain * 10 },
});
const many = Array.from({ length: MANY }, (_, n) => requested(n + 1, n, `msg_${n}`));
const latestOfMany = (port: RequestChains) => many.map(({ delivery, payment }) => port.latest(delivery, payment));

function chainsCase(name: string, act: (subject: ChainsSubject) => Promise<void> | void, needs?: Feature): ChainsCase {
  const run = async (subject: ChainsSubject) => {
    subject.port.open(ORIGIN);
    await act(subject);
  };
  return needs ? { name, needs, run } : { name, run };
}

async function reopened(subject: ChainsSubject): Promise<RequestChains> {
  const port = await subject.reopen();
  port.open(ORIGIN);
  return port;
}

const lookups: ChainsCase[] = [
  chainsCase('new chains have no position, no lowest chain, and no delivery', ({ port }) => {
    expect([port.position, port.lowest, port.latest('msg_1', payment(7)), port.trouble]).toEqual([null, null, 0, null]);
  }),
  chainsCase('of two chains of a delivery the later one is stored, in whatever order they are added', ({ port }) => {
    port.add([requested(5), requested(3)], null);
    port.add([requested(4)], null);
    expect(port.latest('msg_1', payment(7))).toBe(5);
    port.add([requested(6)], null);
    expect(port.latest('msg_1', payment(7))).toBe(6);
  }),
  chainsCase('a chain belongs to one delivery of one record: another publication is another delivery', ({ port }) => {
    port.add([requested(5)], null);
    const others: [string, string | null][] = [
      ['msg_1', payment(6)],
      ['msg_1', payment(8)],
      ['msg_1', payment(7, 1)],
      ['msg_1', `${payment(7)}1`],
      ['msg_1', `other-${payment(7)}`],
      ['msg_1', null],
      ['msg_2', payment(7)],
    ];
    expect(others.map(([delivery, of]) => port.latest(delivery, of))).toEqual(others.map(() => 0));
  }),
  ...[null, '', 'not a position', '@', 'a/b@1', 'a/0/-1@1', `t/0/${2 ** 60}@1`, 'ä/0/1@2'].map((text) =>
    chainsCase(`a payment may be ${JSON.stringify(text)}`, async (subject) => {
      subject.port.add([{ ...requested(5), payment: text }], null);
      expect(subject.port.latest('msg_1', text)).toBe(5);
      const port = await reopened(subject);
      expect([port.latest('msg_1', text), port.latest('msg_1', payment(7))]).toEqual([5, 0]);
    }),
  ),
  chainsCase('any number of chains is found, and nothing else, before and after a reopening', async (subject) => {
    subject.port.add(many, POSITION);
    expect(latestOfMany(subject.port)).toEqual(many.map(({ chain }) => chain));
    const port = await reopened(subject);
    expect(latestOfMany(port)).toEqual(many.map(({ chain }) => chain));
    expect(many.filter(({ delivery }, n) => port.latest(delivery, payment(MANY + n)) > 0)).toEqual([]);
  }),
];

const positions: ChainsCase[] = [
  chainsCase('chains and position survive a reopening', async (subject) => {
    subject.port.add([requested(5)], POSITION);
    const port = await reopened(subject);
    expect([port.latest('msg_1', payment(7)), port.position, port.lowest]).toEqual([5, POSITION, 5]);
  }),
  chainsCase('add leaves the position as it was if it gets none, and moves it without chains', ({ port }) => {
    port.add([requested(5)], POSITION);
    port.add([requested(6)], null);
    expect(port.position).toEqual(POSITION);
    port.add([], LATER);
    expect([port.position, port.latest('msg_1', payment(7))]).toEqual([LATER, 6]);
    port.add([], { offset: 12, before: null });
    expect(port.position).toEqual({ offset: 12, before: null });
  }),
  chainsCase(
    'add stores chains and position in one transaction: if a part fails, nothing is stored',
    async (subject) => {
      subject.port.add([requested(5)], POSITION);
      const unstorable = { ...requested(9, 8), at: Symbol('none') as unknown as number };
      expect(() => subject.port.add([requested(8, 9), unstorable], LATER)).toThrow();
      const port = await reopened(subject);
      expect([port.latest('msg_1', payment(9)), port.latest('msg_1', payment(7)), port.position]).toEqual([
        0,
        5,
        POSITION,
      ]);
    },
  ),
  chainsCase('open keeps what was read from this origin, and empties what was read from another', ({ port }) => {
    port.add([requested(5)], POSITION);
    port.open(ORIGIN);
    expect(port.latest('msg_1', payment(7))).toBe(5);
    port.open('history-2 webhooks.requests');
    expect([port.latest('msg_1', payment(7)), port.position, port.lowest]).toEqual([0, null, null]);
    port.add([requested(6)], POSITION);
    port.open(ORIGIN);
    expect([port.latest('msg_1', payment(7)), port.position]).toEqual([0, null]);
  }),
  chainsCase('open with another origin also empties chains that were added without a position', async (subject) => {
    subject.port.add([requested(5)], null);
    const port = await subject.reopen();
    port.open('history-2 webhooks.requests');
    expect([port.latest('msg_1', payment(7)), port.lowest]).toEqual([0, null]);
  }),
  chainsCase('clear deletes everything, and what is added then is stored', async (subject) => {
    subject.port.add(many, POSITION);
    subject.port.clear();
    expect([subject.port.position, subject.port.lowest, ...latestOfMany(subject.port)].every((one) => !one)).toBe(true);
    subject.port.open(ORIGIN);
    subject.port.add([requested(5)], LATER);
    const port = await reopened(subject);
    expect([port.latest('msg_1', payment(7)), port.position, port.lowest]).toEqual([5, LATER, 5]);
  }),
];

const pruning: ChainsCase[] = [
  chainsCase('prune deletes the lowest chains first, up to the limit', async (subject) => {
    subject.port.add(many.toReversed(), POSITION);
    const upTo = { chain: 1_200, at: ALWAYS };
    expect([subject.port.prune(500, upTo), subject.port.lowest]).toEqual([500, 501]);
    expect([subject.port.prune(5_000, upTo), subject.port.prune(5_000, upTo), subject.port.lowest]).toEqual([
      700, 0, 1_201,
    ]);
    const port = await reopened(subject);
    expect(latestOfMany(port)).toEqual(many.map(({ chain }) => (chain <= 1_200 ? 0 : chain)));
    expect(port.position).toEqual(POSITION);
  }),
  chainsCase('prune leaves chains that were requested at the given time or later', ({ port }) => {
    port.add(many, POSITION);
    expect([port.prune(5_000, { chain: 1_200, at: 110 }), port.lowest]).toEqual([10, 11]);
  }),
  chainsCase('prune leaves a delivery whose latest chain is higher', ({ port }) => {
    port.add([requested(1)], null);
    port.add([requested(9)], null);
    expect([port.prune(10, { chain: 5, at: ALWAYS }), port.latest('msg_1', payment(7))]).toEqual([0, 9]);
  }),
  chainsCase('a delivery that was pruned can be requested again', ({ port }) => {
    port.add([requested(1)], null);
    expect([port.prune(10, { chain: 5, at: ALWAYS }), port.lowest, port.latest('msg_1', payment(7))]).toEqual([
      1,
      null,
      0,
    ]);
    port.add([requested(6)], null);
    expect([port.latest('msg_1', payment(7)), port.lowest]).toEqual([6, 6]);
  }),
];

const faults: ChainsCase[] = [
  chainsCase(
    'a method that finds damage throws RequestChainsDamaged; after clear they are empty, and store again',
    async (subject) => {
      subject.port.add(many, POSITION);
      const port = await reopened(subject);
      await subject.damage();
      expect(() => latestOfMany(port)).toThrow(RequestChainsDamaged);
      port.clear();
      port.open(ORIGIN);
      expect([port.position, port.lowest, new Set(latestOfMany(port))]).toEqual([null, null, new Set([0])]);
      port.add(many, POSITION);
      expect(latestOfMany(port)).toEqual(many.map(({ chain }) => chain));
    },
    'damage',
  ),
];

export const cases: readonly ChainsCase[] = [...lookups, ...positions, ...pruning, ...faults];
