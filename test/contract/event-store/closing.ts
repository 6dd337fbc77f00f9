import { type EventStore, NO_STREAM, StoreUnavailable } from '../../../src/ports/event-store.js';
import { collect, errorOf } from '../contract.js';
import { event, type StoreCase, storeCase } from './follower.js';

type Call = (store: EventStore, stream: string) => Promise<unknown>;

const subscription = (store: EventStore, streamPrefix: string) =>
  store.subscribe({ after: null, streamPrefix, signal: new AbortController().signal })[Symbol.asyncIterator]();

const CALLS: readonly (readonly [string, Call])[] = [
  ['append', (store, stream) => store.append(stream, [event()], NO_STREAM)],
  ['read', (store, stream) => collect(store.read(stream))],
  ['head', (store) => store.head()],
  ['subscribe', (store, stream) => subscription(store, stream).next()],
];

export const closing: StoreCase[] = [
  storeCase('close ends every subscription, those that wait and those that catch up', async (s) => {
    await s.append(2_500);
    const waiting = await s.caughtUp();
    const catchingUp = s.follow();
    await s.soon('no event came', () => catchingUp.events.length > 0);
    await s.within('close did not end', s.store.close());
    await s.within('a subscription did not end', Promise.all([waiting.ended, catchingUp.ended]));
    expect(waiting.failure).toBeNull();
  }),
  ...CALLS.map(([name, call]) =>
    storeCase(`${name} after close rejects with StoreUnavailable`, async (s) => {
      await s.append(1);
      await s.store.close();
      const error = await errorOf(s.subject, () => call(s.store, s.stream()));
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    }),
  ),
  storeCase(
    'every call ends: an append that gets no answer rejects with StoreUnavailable, and is safely repeated',
    async (s) => {
      const inDoubt = [event()];
      const append = () => s.store.append(s.stream(), inDoubt, NO_STREAM);
      const answerAgain = await s.subject.stall();
      const error = await errorOf(s.subject, append).finally(answerAgain);
      expect(error).toBeInstanceOf(StoreUnavailable);
      await append();
      expect(await s.read()).toHaveLength(1);
    },
    'stall',
  ),
];
