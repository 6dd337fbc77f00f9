/** What a service's view has, against the fold of its topics in a view of the test's own. */
import { isDeepStrictEqual } from 'node:util';
import { openDeliveriesView } from '../../../src/adapters/sqlite/view/deliveries-view.js';
import { viewEntries } from '../../../src/delivery/log/view-entry.js';
import { VIEW_TOPICS, type ViewCore } from '../../../src/ports/deliveries-view.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { behind, eventsQuery, feedQuery, query, VIEW_SIZE } from '../scenes/deliveries-view-subject.js';
import type { FaultScene } from '../scenes/fault-scene.js';
import { temporaryDirectory } from '../scenes/temporary-directory.js';
import { wholeQueries } from '../scenes/whole-queries.js';

const LIMIT = 100_000;
const DAY_MS = 86_400_000;

/** The service must be stopped. @returns how many deliveries both have */
export async function viewEqualsFold(scene: FaultScene, accountId: number): Promise<number> {
  const own = temporaryDirectory();
  const folded = openDeliveriesView(own.path, () => undefined, VIEW_SIZE);
  const damaged: string[] = [];
  const stored = openDeliveriesView(String(scene.settings.DATA_DIR), (file) => damaged.push(file), VIEW_SIZE);
  try {
    await scene.withBroker(async ({ broker }, topics) => {
      for (const topic of VIEW_TOPICS) {
        for await (const record of topicRecords(broker, topics[topic])) {
          const entries = viewEntries({ ...record, topic });
          folded.add(entries, behind(entries));
        }
      }
    });
    const expected = answers(folded, accountId);
    const found = answers(stored, accountId);
    // Not toEqual: of thousands of rows it would show each.
    const unlike = Object.keys(found).filter((key) => !isDeepStrictEqual(of(found, key), of(expected, key)));
    expect({ damaged, unlike, count: found.deliveries.length }).toEqual({
      damaged: [],
      unlike: [],
      count: expected.deliveries.length,
    });
    return expected.deliveries.length;
  } finally {
    stored.close();
    folded.close();
    own.remove();
  }
}

const of = (answered: object, key: string): unknown => Reflect.get(answered, key);

function answers(core: ViewCore, accountId: number) {
  const asked = wholeQueries(core, { accountId, webhookIds: null });
  const { deliveries } = asked.page(query({ webhookId: null, limit: LIMIT }));
  const to = Math.ceil(Date.now() / DAY_MS) * DAY_MS + DAY_MS;
  const stats = { from: to - 1_000 * DAY_MS, to, step: '1h', webhookId: null, eventType: null } as const;
  return {
    deliveries,
    details: deliveries.slice(0, 100).map(({ id }) => asked.publications(id)),
    events: asked.events(eventsQuery({ limit: LIMIT })),
    feed: asked.feed(feedQuery({ limit: LIMIT })),
    stats: asked.stats(stats),
    attempts: asked.attempts(0),
    since: asked.dataSince(),
    health: asked.health(),
  };
}
