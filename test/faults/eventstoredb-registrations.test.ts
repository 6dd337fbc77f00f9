/**
 * The event store is cut off, or goes silent, during registrations: each POST gets a response, success or a 5xx; after
 * success the webhook is there; and a repeated POST makes no second entry.
 */
import { randomBytes } from 'node:crypto';
import { type EventStoreServer, startEventStore } from '../services/eventstoredb/event-store-server.js';
import { eventually } from '../support/eventually.js';
import { reportCounts } from '../support/fault-counts.js';
import { FaultScene } from '../support/fault-scene.js';
import { type Service, strayLines } from '../support/service.js';
import { addWebhook } from '../support/story.js';
import { inFull } from '../support/thorough.js';

const ACCOUNT = 7;
const TYPES = ['cash_out', 'refund_in', 'refund_out', 'med_created', 'med_accepted', 'med_rejected'];
/** The limit of a type: before, during and after the fault. */
const NAMES = ['before', 'during', 'after'];
const PATIENCE = { timeout: 40_000 };

interface Post {
  readonly eventType: string;
  readonly url: string;
  status: number;
}

let scene: FaultScene;
let server: EventStoreServer;
afterEach(() => scene.close());

const FAULTS: readonly [string, (faults: EventStoreServer['faults']) => void][] = [
  [
    'is cut off a few times',
    (faults) => {
      faults.cutConnection('before-stored', 2);
      faults.cutConnection('after-stored', 2);
    },
  ],
  ['stores and is cut off before it answers, each time', (faults) => faults.cutConnection('after-stored', 1_000)],
  ['is silent', (faults) => faults.silent('append', 'read', 'subscribe')],
];

test.each(inFull(FAULTS, FAULTS.slice(1, 2)))(
  'it %s: each POST is answered, and none makes two entries',
  async (what, begin) => {
    server = await startEventStore();
    const settings = { EVENT_STORE_URL: server.url, MASTER_KEY: randomBytes(32).toString('base64') };
    scene = await FaultScene.open({ name: what, open: async () => ({ settings, close: () => server.stop() }) });
    const service = await scene.serve();
    const token = await scene.account(service, ACCOUNT, []);
    /** Whether the POST was accepted. */
    const send = async (post: Post) => {
      post.status = await addWebhook(service.url, token, post);
      return post.status === 200;
    };

    const [before = [], during = [], after = []] = NAMES.map(postsOf);
    await Promise.all(before.map(send));
    begin(server.faults);
    await Promise.all(during.map(send));
    const refused = during.filter(({ status }) => status !== 200);
    server.faults.clear();
    for (const post of [...refused, ...after]) await eventually(() => send(post), PATIENCE);

    const all = [...before, ...during, ...after].map(({ eventType, url }) => `${eventType} ${url}`).sort();
    expect(before.map(({ status }) => status)).toEqual(TYPES.map(() => 200));
    await eventually(async () => (await shown(service, token)).length >= all.length, PATIENCE);
    expect(await shown(service, token)).toEqual(all);
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(strayLines(service.log())).toEqual([]);
    const again = await scene.serve();
    const kept = await shown(again, token);
    const lost = all.filter((webhook) => !kept.includes(webhook)).length;
    const counted = `the event store ${what} under registrations: ${refused.length} of ${all.length} POSTs refused and sent again`;
    reportCounts({ what: counted, pairs: all.length, lost, sentTwice: null });
    expect(kept).toEqual(all);
  },
);

function postsOf(name: string): Post[] {
  return TYPES.map((eventType) => ({ eventType, url: `https://localhost/${name}`, status: 0 }));
}

/** Type and URL of each, sorted. */
async function shown({ url }: Service, token: string): Promise<string[]> {
  const response = await fetch(`${url}/api/webhooks`, { headers: { authorization: `Bearer ${token}` } });
  const { webhooks } = (await response.json()) as { webhooks: { type: string; url: string }[] };
  return webhooks.map((webhook) => `${webhook.type} ${webhook.url}`).sort();
}
