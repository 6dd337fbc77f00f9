import { type RecordedEvent, StoreRefused, StoreUnavailable, StreamHidden } from '../../src/ports/event-store.js';
import type { SetAside } from '../../src/ports/projection-states.js';
import { accountNow } from '../../src/read-model/accounts.js';
import { loadProjection } from '../../src/read-model/projection-source.js';
import type { ProjectionStore } from '../../src/read-model/projection-store.js';
import { Quarantine } from '../../src/read-model/quarantine.js';
import { silentLogger } from '../support/scenes/silent-logger.js';

/** Streams by name, and what reading each of them ends with; a stream without an error is whole. */
function quarantined(errors: Record<string, Error | undefined>) {
  const aside = new Map<string, SetAside>(Object.keys(errors).map((stream) => [stream, { why: 'unknown' }]));
  const reads: string[] = [];
  const folded = {
    setAside: aside,
    skippedUpTo: () => -1,
    takeBack: (stream: string) => void aside.delete(stream),
    putAside: (stream: string, found: SetAside) => void aside.set(stream, found),
  } as unknown as ProjectionStore<object>;
  const read = async function* (stream: string): AsyncGenerator<RecordedEvent> {
    reads.push(stream);
    const error = errors[stream];
    if (error) throw error;
    yield { id: 'e', type: 'Other', stream, revision: 0, position: '0', data: {}, metadata: {} };
  };
  const projection = loadProjection('account-webhooks');
  const own = { projection, folded, store: { read } };
  const quarantine = new Quarantine({ ...own, logger: silentLogger, commit: () => undefined });
  return { quarantine, aside, reads };
}

test('a stream that the store refuses keeps no other one set aside; a store that is away is not asked for each', async () => {
  const { quarantine, aside, reads } = quarantined({
    'account-1': new StoreRefused('no right'),
    'account-2': undefined,
    'account-3': new StoreUnavailable('away'),
    'account-4': undefined,
  });
  await quarantine.retryAll();
  expect([...aside.keys()]).toEqual(['account-1', 'account-3', 'account-4']);
  expect(reads).toEqual(['account-1', 'account-2', 'account-3']);
});

test('a command learns of an account whose stream is hidden that it cannot be read, not an error', async () => {
  const read = async function* (): AsyncGenerator<RecordedEvent> {
    yield* [];
    throw new StreamHidden('account-7', 'it was deleted');
  };
  const found = await accountNow({ read }, 7);
  expect(found.unreadable(7)).toBe('account 7 is set aside: its stream cannot be read: it was deleted');
});
