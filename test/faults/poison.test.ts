/**
 * Poison in every topic while events flow: foreign records, and records that pretend to be ours. Good events arrive as
 * if the poison did not exist, nobody gets another account's events, and the commands still answer, one line per
 * record.
 */
import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import { NOT_BEGUN } from '../../src/delivery/delivery-progress.js';
import type { NewRecord } from '../../src/ports/broker.js';
import { topicRecords } from '../../src/ports/topic-records.js';
import { accountStream } from '../../src/webhooks/events.js';
import { describeBackbones } from '../support/backbones.js';
import { header } from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { failingFirst } from '../support/failing-first.js';
import { FaultScene } from '../support/fault-scene.js';
import { commandLine } from '../support/in-process-cli.js';
import { paymentEvents } from '../support/story.js';

const ACCOUNT = 7;
const OTHER = 8;
const PATHS = ['/one', '/two'];
const EVENTS = 60;
const TIERS = ['200ms', '400ms'];
const PATIENCE_MS = 40_000;
/** The first attempt for such an event fails: its record passes through a tier. */
const FAILS = /"id":"(liar-0|\w+-\d*3)"/;
const COMMANDS = [`deliveries list --account ${ACCOUNT}`, 'dead-letters list', `audit log --account ${ACCOUNT}`];

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  test('good events arrive, nobody gets what is not his, and the commands answer', async () => {
    scene = await FaultScene.open(backbone, {
      respond: failingFirst(FAILS),
      settings: { RETRY_SCHEDULE: TIERS.join() },
    });
    const service = await scene.serve();
    const urls = scene.urls(...PATHS);
    const webhookId = await idOfFirst(service.url, await scene.account(service, ACCOUNT, urls));
    await scene.account(service, OTHER, scene.urls('/other'));
    await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'before-'), urls);
    await poison(scene, webhookId);
    await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'after-'), urls);
    await scene.nothingLost(PATIENCE_MS);
    await stolenIsBuried(scene);

    // Letters from the payment topic and each tier, including stolen records; and records put among the letters
    // themselves.
    const letters = (1 + TIERS.length) * NONSENSE.length + TIERS.length + NONSENSE.length + 2;
    const counted = await Promise.all(COMMANDS.map((command) => linesOf(scene, command)));
    expect(counted[1]).toBe(letters);
    scene.oracle.due(eventOf('letter'), urls.slice(0, 1));
    // The stolen records are left: no such webhook ever existed.
    const replayed = await commandLine(scene.settings, ['dead-letters', 'replay', '--json']);
    expect(replayed.stderr).toContain(`${TIERS.length + 1} not replayed`);
    expect(replayed.stdout.trim().split('\n')).toEqual([expect.stringContaining('"msg_letter"')]);
    await scene.nothingLost(PATIENCE_MS);
    expect(await service.stop('SIGTERM')).toBe(0);
    const verdict = scene.oracle.report(`${backbone.name}, poison, ${letters} dead letters`);
    const pairs = (2 * EVENTS + 1) * PATHS.length + TIERS.length + 1;
    expect(verdict).toEqual({ pairs, lost: 0, sentTwice: 0, differing: 0, unexpected: 0 });
  });
});

const eventOf = (name: string) => paymentEvents(ACCOUNT, 1, `${name}-`).trim();

async function poison(scene: FaultScene, webhookId: number): Promise<void> {
  const { oracle } = scene;
  const one = scene.urls('/one');
  const webhook = { webhookId, webhookEvent: await addedBy(scene, webhookId) };
  const stolen = (from: string) =>
    forged({ deliveryId: `stolen from ${from}`, accountId: OTHER, ...webhook, value: eventOf('stolen') });
  const own = (name: string) => {
    const [deliveryId, value] = [`msg_${name}`, eventOf(name)];
    return forged({ deliveryId, accountId: ACCOUNT, ...webhook, value });
  };
  await scene.withBroker(async ({ broker }, topics) => {
    // A payment with false headers is still a payment: it goes to the URLs of its account, and to no other.
    oracle.due(eventOf('liar'), scene.urls(...PATHS));
    const liar = forged({ deliveryId: 'liar', accountId: OTHER, ...webhook, value: eventOf('liar') });
    await broker.publish(topics.payments[0], [...NONSENSE, liar]);
    for (const text of TIERS) {
      // A writer to a tier can have an event sent, but can't hold up others, whatever time the record names.
      oracle.due(eventOf(text), one);
      await broker.publish(topics.tier({ text, ms: 0 }), [...NONSENSE, stolen(text), own(text)]);
    }
    await broker.publish(topics.deadLetters, [...NONSENSE, stolen('the letters'), own('letter')]);
    await broker.publish(topics.deliveries, [...NONSENSE, ...CROOKED_ENTRIES]);
  });
}

async function idOfFirst(api: string, token: string): Promise<number> {
  const response = await fetch(`${api}/api/webhooks`, { headers: { authorization: `Bearer ${token}` } });
  const { webhooks } = (await response.json()) as { webhooks: { id: number }[] };
  return webhooks[0]?.id ?? 0;
}

/** The id of the event. */
function addedBy(scene: FaultScene, webhookId: number): Promise<string> {
  return scene.withBroker(async ({ store }) => {
    for await (const { id, type, data } of store.read(accountStream(ACCOUNT))) {
      if (type === 'WebhookAdded' && data.webhookId === webhookId) return id;
    }
    throw new Error(`no event added webhook ${webhookId}`);
  });
}

/** A webhook of another account than the named one does not exist: each record for it becomes a dead letter. */
function stolenIsBuried(scene: FaultScene): Promise<unknown> {
  return scene.withBroker(({ broker }, { deadLetters }) => {
    const isBuried = async () => {
      let count = 0;
      for await (const record of topicRecords(broker, deadLetters)) {
        const { deliveryId, reason } = readDeadLetter(record);
        if (deliveryId?.startsWith('stolen') && reason === 'other-history') count += 1;
      }
      return count === TIERS.length;
    };
    return eventually(isBuried, { timeout: PATIENCE_MS, message: 'what was stolen has no end' });
  });
}

/** The number of lines in the command's result: the same for people and for programs. */
async function linesOf(scene: FaultScene, command: string): Promise<number> {
  // The log's last entries follow what was received: until they are there, the two forms may differ.
  let lines: readonly string[][] = [];
  const bothAlike = async () => {
    lines = await formsOf(scene, command);
    return lines[0]?.length === lines.at(-1)?.length;
  };
  await eventually(bothAlike, { timeout: PATIENCE_MS, message: `${command} never gives as many lines for both` });
  for (const line of lines.at(-1) ?? []) expect(JSON.parse(line)).toBeInstanceOf(Object);
  return lines[0]?.length ?? 0;
}

async function formsOf({ settings }: FaultScene, command: string): Promise<string[][]> {
  const forms = command.includes('--json') ? [command] : [command, `${command} --json`];
  const answers = await Promise.all(forms.map((form) => commandLine(settings, form.split(' '))));
  const lines = answers.map(({ stdout }) => stdout.split('\n').filter((line) => line !== ''));
  expect(answers.map(({ code, stderr }) => ({ command, code, stderr }))).toEqual(
    forms.map(() => ({ command, code: 0, stderr: '' })),
  );
  return lines;
}

/** A due time far beyond any test. */
const FAR = Date.UTC(2100, 0);
const ESCAPES = 'two\nlines, \u001b[2J and \u0000';

/** Records that no topic recognises. */
const NONSENSE: readonly NewRecord[] = [
  nonsense(null),
  nonsense(''),
  nonsense('not JSON'),
  nonsense('[1, 2]'),
  nonsense('{"id": 5, "attempts": null}'),
  nonsense(Buffer.from([0xff, 0xfe, 0x00])),
  { ...nonsense('{}'), headers: [header('x-huge', 'x'.repeat(200_000))] },
  { ...nonsense('{}'), headers: [header('aw-delivery', `{"attempts":-1,"due":${FAR}}`), header('aw-detail', ESCAPES)] },
];

/** Nearly the shape of the deliveries topic's entries. */
const CROOKED_ENTRIES: readonly NewRecord[] = [
  { deliveries: 5, routed: {} },
  { id: 'crooked-1' },
  { id: 'crooked-2', accountId: 7 },
  { id: `crooked-3 ${ESCAPES}`, accountId: 7, attempt: 5, outcome: 'nonsense', nextAttemptAt: {} },
  { id: 'crooked-4', accountId: 7, attempt: { at: 1, status: 'x' }, eventId: null },
].map((entry) => nonsense(JSON.stringify({ deliveries: [null, entry], routed: [entry], ...entry })));

interface Forgery {
  readonly deliveryId: string;
  readonly accountId: number;
  readonly webhookId: number;
  /** The id of the event that added the webhook. */
  readonly webhookEvent: string;
  readonly value: string;
}

/** A record with all headers of ours, for a delivery that is exhausted, waits forever, and was never attempted. */
function forged({ deliveryId, accountId, webhookId, webhookEvent, value }: Forgery): NewRecord {
  const about = { id: deliveryId, accountId, webhookId, webhookEvent };
  const none = { cloudEvent: null, payment: null, publishedAt: null, trace: null };
  const progress = { ...NOT_BEGUN, ...about, ...none, eventId: ESCAPES, eventType: 'cash_in', due: FAR };
  const headers = {
    'aw-delivery': JSON.stringify(progress),
    'aw-reason': 'exhausted',
    'aw-detail': ESCAPES,
    'aw-source': ESCAPES,
  };
  return {
    key: null,
    value: Buffer.from(value),
    headers: Object.entries(headers).map(([name, text]) => header(name, text)),
  };
}

function nonsense(value: string | Buffer | null): NewRecord {
  return { key: null, value: value === null ? null : Buffer.from(value as string), headers: [] };
}
