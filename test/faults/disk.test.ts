/**
 * The disk is full, or can't sync, for a while under load: always, or now and then, including midway through a
 * transaction. The API's responses are true: success means stored, 5xx means not stored. Deliveries wait or continue,
 * and once there is room all of them arrive.
 */
import { inFull } from '../runner/thorough.js';
import { type Readiness, readiness, run, type Service, strayLines } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { viewEqualsFold } from '../support/oracles/view-equals-fold.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { FaultyLibc, withFaultyLibc } from '../support/scenes/faulty-libc.js';
import { listWebhooks, paymentEvents } from '../support/scenes/story.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two', '/three'];
const EVENTS = 50;
const PATIENCE_MS = 40_000;
const PATIENCE = { timeout: PATIENCE_MS };
const TYPES = ['cash_out', 'refund_in', 'refund_out', 'med_created', 'med_accepted', 'med_rejected'];
/** The fault must strike at least this often. */
const REFUSED = 60;

interface Answer {
  /** Type and URL. */
  readonly webhook: string;
  readonly status: number;
  readonly body: { readonly success?: boolean; readonly message?: string };
}

withFaultyLibc(() => {
  let scene: FaultScene;
  let libc: FaultyLibc;
  let urls: string[];
  let token: string;
  afterEach(async () => {
    await scene.close();
    libc.close();
  });

  /** A service with three webhooks. @param file the disk can fail for files of this name; all, without it */
  async function serving(file = ''): Promise<Service> {
    scene = await FaultScene.open();
    libc = new FaultyLibc(`${scene.settings.DATA_DIR}${file && `/${file}`}`);
    urls = scene.urls(...PATHS);
    const service = await scene.serve(libc.settings);
    token = await scene.account(service, ACCOUNT, urls);
    return service;
  }

  /** One webhook of each type, one after the other: each is a transaction of its own. */
  async function post({ url }: Service, name: string): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const eventType of TYPES) {
      answers.push(await posted(url, token, { eventType, url: `${scene.receiver.url}/${name}` }));
    }
    return answers;
  }

  /** Publishes by the command line, which has the same disk. @returns whether the command reported success */
  async function publishByCommand(name: string): Promise<boolean> {
    const events = paymentEvents(ACCOUNT, 1, name);
    scene.oracle.maybe(events, urls);
    const { code, stderr } = await run({ ...scene.settings, ...libc.settings }, ['events', 'publish'], events);
    if (code === 0) scene.oracle.due(events, urls);
    else expect(stderr).toMatch(/^account-webhooks: .*\(SQLITE_[A-Z_]+\)\n$/);
    return code === 0;
  }

  /**
   * Publishes another event whenever all were sent before the fault struck often enough: without it nothing more would
   * be written.
   * @returns the number of these events
   */
  async function struckOften(refused: () => number): Promise<number> {
    let more = 0;
    const isStruck = async () => {
      if (refused() >= REFUSED) return true;
      if (scene.oracle.verdict().lost > 0) return false;
      await scene.publish(paymentEvents(ACCOUNT, 1, `more-${more}-`), urls);
      more += 1;
      return false;
    };
    await eventually(isStruck, PATIENCE);
    return more;
  }

  const faults: readonly [string, () => void, () => number][] = [
    ['the disk is full', () => libc.diskFull(1), () => libc.writesRefused],
    ['the disk is full now and then', () => libc.diskFull(7), () => libc.writesRefused],
    ['the disk can not sync', () => libc.syncFails(1), () => libc.syncsRefused],
    ['the disk can not sync now and then', () => libc.syncFails(2), () => libc.syncsRefused],
  ];
  test.each(inFull(faults, faults.slice(0, 1)))(
    '%s: nothing is lost, and every answer was true',
    async (what, begin, refused) => {
      const service = await serving();
      const answers = await post(service, 'before');
      await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'before-'), urls);
      await eventually(() => scene.receiver.requests.length > EVENTS / 2);
      begin();
      answers.push(...(await post(service, 'during')));
      const published = await publishByCommand('during-');
      // Other processes have room and continue: their events are sent, and the results wait until they can be written.
      await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'meanwhile-'), urls);
      const more = await struckOften(refused);
      expect(await shown(service, token)).toEqual(expect.arrayContaining(trueOf(answers)));
      libc.diskFull(0);
      libc.syncFails(0);
      answers.push(...(await post(service, 'after')));
      await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'after-'), urls);
      await scene.nothingLost(PATIENCE_MS);
      expect(await service.stop('SIGTERM')).toBe(0);
      expect(strayLines(service.log())).toEqual([]);
      const again = await scene.serve();
      const cashIn = urls.map((url) => `cash_in ${url}`);
      expect(await shown(again, token)).toEqual([...cashIn, ...trueOf(answers)].sort());
      const refusals = `${refused()} calls, ${answers.filter(({ status }) => status >= 500).length} of 18 POSTs refused`;
      const verdict = scene.oracle.report(`${what}, ${refusals}`);
      const pairs = (3 * EVENTS + more + (published ? 1 : 0)) * PATHS.length;
      expect(verdict).toEqual({ pairs, lost: 0, sentTwice: 0, differing: 0, unexpected: 0 });
    },
  );

  test('the disk is full, kill -9, and a start before there is room: one line; after it: nothing is lost', async () => {
    const service = await serving();
    await scene.publish(paymentEvents(ACCOUNT, EVENTS), urls);
    await eventually(() => scene.receiver.requests.length > EVENTS / 2);
    libc.diskFull(1);
    await eventually(() => libc.writesRefused >= REFUSED, PATIENCE);
    await service.stop('SIGKILL');
    const tooEarly = await run({ ...scene.settings, ...libc.settings, PORT: '0', ADMIN_PORT: '0' }, ['serve']);
    expect(tooEarly).toMatchObject({ code: 1, stdout: '' });
    expect(tooEarly.stderr).toMatch(/\naccount-webhooks: DATA_DIR can't be used \(SQLITE_[A-Z_]+\)\n$/);
    libc.diskFull(0);
    await scene.serve(libc.settings);
    await scene.nothingLost(PATIENCE_MS);
    const verdict = scene.oracle.report('the disk is full, and kill -9');
    expect(verdict).toMatchObject({ pairs: EVENTS * PATHS.length, lost: 0, differing: 0, unexpected: 0 });
  });

  test('the disk is full for the deliveries view alone: deliveries continue, and the view catches up', async () => {
    const service = await serving('deliveries-view');
    const view = async () => (await partsOf(service)).find(({ part }) => part === 'deliveries view');
    await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'before-'), urls);
    await eventually(async () => (await listed(service, token)) === EVENTS, PATIENCE);
    libc.diskFull(1);
    await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'during-'), urls);
    await eventually(async () => (await view())?.ready === false, PATIENCE);
    await scene.nothingLost(PATIENCE_MS);
    expect(libc.writesRefused).toBeGreaterThan(0);
    expect(await listed(service, token)).toBe(EVENTS);
    expect((await partsOf(service)).filter(({ ready }) => !ready)).toEqual([
      { part: 'deliveries view', ready: false, needed: false, why: 'its file is not writable' },
    ]);
    libc.diskFull(0);
    await eventually(async () => (await listed(service, token)) === 2 * EVENTS, PATIENCE);
    // Its rows are shown as they are stored, and it says that it goes on behind that.
    await eventually(async () => (await view())?.ready === true, PATIENCE);
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(await viewEqualsFold(scene, ACCOUNT)).toBe(2 * EVENTS * PATHS.length);
    const verdict = scene.oracle.report('the disk is full for the deliveries view');
    const pairs = 2 * EVENTS * PATHS.length;
    expect(verdict).toEqual({ pairs, lost: 0, sentTwice: 0, differing: 0, unexpected: 0 });
  });

  test('the disk is full for the file of requests alone: they are kept in memory, and deliveries continue', async () => {
    const service = await serving('requests');
    const requests = async () => (await partsOf(service)).find(({ part }) => part === 'requests');
    const resent = async () => {
      const { deliveries } = await fetched<{ deliveries: { id: string }[] }>(service, token, 'webhooks/1/deliveries');
      const { status } = await fetch(`${service.url}/api/deliveries/${deliveries[0]?.id}/resend`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      });
      return status;
    };
    await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'before-'), urls);
    await eventually(async () => (await listed(service, token)) === EVENTS, PATIENCE);
    // The list has the deliveries of one webhook: those of the others may still be on the wire.
    await scene.nothingLost(PATIENCE_MS);
    libc.diskFull(1);
    const before = scene.receiver.requests.length;
    expect(await resent()).toBe(202);
    await eventually(() => scene.receiver.requests.length > before, PATIENCE);
    await eventually(async () => (await requests())?.ready === false, PATIENCE);
    expect((await requests())?.why).toMatch(/^requests\.sqlite can't be used \(SQLITE_[A-Z_]+\)$/);
    await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'during-'), urls);
    await scene.nothingLost(PATIENCE_MS);
    libc.diskFull(0);
    await eventually(async () => (await requests())?.ready === true, PATIENCE);
    expect(await service.stop('SIGTERM')).toBe(0);
  });
});

/** Reads are limited by the time that they take, so on a busy machine some have to wait. */
async function fetched<T>({ url }: Service, token: string, path: string): Promise<T> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await eventually(async () => {
    const answer = await fetch(`${url}/api/${path}`, { headers });
    return answer.status !== 429 && answer;
  }, PATIENCE);
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

/** The parts of a process that is ready. */
async function partsOf(service: Service): Promise<Readiness['parts']> {
  const { httpStatus, parts } = await readiness(service);
  expect(httpStatus).toBe(200);
  return parts;
}

/** The number of delivered events in the list of the first webhook. */
async function listed(service: Service, token: string): Promise<number> {
  const path = 'webhooks/1/deliveries?outcome=delivered&limit=200';
  return (await fetched<{ deliveries: unknown[] }>(service, token, path)).deliveries.length;
}

/** Success is 200; a failure has the API's shape. */
async function posted(api: string, token: string, webhook: { eventType: string; url: string }): Promise<Answer> {
  const response = await fetch(`${api}/api/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(webhook),
  });
  const body = (await response.json()) as Answer['body'];
  if (response.status !== 200)
    expect(body).toEqual({
      success: false,
      message: expect.stringContaining('the service is unavailable'),
      code: 'unavailable',
    });
  return { webhook: `${webhook.eventType} ${webhook.url}`, status: response.status, body };
}

/** The webhooks to be shown if the responses are true. */
function trueOf(answers: readonly Answer[]): string[] {
  return answers.filter(({ status }) => status === 200).map(({ webhook }) => webhook);
}

/** Type and URL of each, sorted. */
async function shown(service: Service, token: string): Promise<string[]> {
  const { webhooks } = await listWebhooks(service, token);
  return webhooks.map((webhook) => `${webhook.type} ${webhook.url}`).sort();
}
