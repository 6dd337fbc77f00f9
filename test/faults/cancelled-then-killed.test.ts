/**
 * A cancellation that was answered with 202, and a kill -9 before a dispatcher has read it: after the restart the payment is not
 * sent, even if the file of requests is lost or damaged as well.
 */
import { rmSync } from 'node:fs';
import { REQUESTS_FILE } from '../../src/adapters/sqlite/request-chains.js';
import type { Service } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { damageFile } from '../support/scenes/sqlite-subjects.js';
import { paymentEvents } from '../support/scenes/story.js';

const ACCOUNT = 7;
const PATIENCE = { timeout: 40_000 };
const API = ['--roles', 'api'];
const RETRY_SCHEDULE = Array(60).fill('2s').join();

let scene: FaultScene;
afterEach(() => scene.close());

interface Shown {
  readonly id: string;
  readonly eventId: string;
  readonly outcome: string;
}

class AccountClient {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async deliveries({ url }: Service): Promise<readonly Shown[]> {
    const response = await this.#fetch(`${url}/api/webhooks/1/deliveries`, 'GET');
    return response.status === 200 ? ((await response.json()) as { deliveries: Shown[] }).deliveries : [];
  }

  /** 503 while the view catches up. */
  async cancel({ url }: Service, id: string): Promise<number> {
    return (await this.#fetch(`${url}/api/deliveries/${id}/cancel`, 'POST')).status;
  }

  /** By event, in the order of their ids. */
  async outcomes(service: Service): Promise<string> {
    const shown = await this.deliveries(service);
    return shown
      .map(({ eventId, outcome }) => `${eventId} ${outcome}`)
      .sort()
      .join();
  }

  #fetch(url: string, method: string): Promise<Response> {
    return fetch(url, { method, headers: { authorization: `Bearer ${this.#token}` } });
  }
}

const sent = (event: string) => scene.receiver.requests.filter(({ body }) => body.toString().includes(`"${event}"`));

describeBackbones((backbone) => {
  const losses: [string, (file: string) => void][] = [
    ['intact', () => undefined],
    ['deleted', (file) => rmSync(file, { force: true })],
    ['damaged', (file) => damageFile(file, 0)],
  ];
  test.each(losses)('a cancelled payment is not sent after a kill -9, the file of requests being %s', async (...of) => {
    const [, lose] = of;
    let status = 503;
    scene = await FaultScene.open(backbone, { respond: () => ({ status }), settings: { RETRY_SCHEDULE } });
    const first = await scene.serve();
    const urls = scene.urls('/one');
    const client = new AccountClient(await scene.account(first, ACCOUNT, urls));
    await scene.publish(paymentEvents(ACCOUNT, 2, 'pay-'), urls);
    const shows = (service: Service, outcomes: string) =>
      eventually(async () => (await client.outcomes(service)) === outcomes, PATIENCE);
    await shows(first, 'pay-0 retrying,pay-1 retrying');
    await first.stop('SIGKILL');

    const api = await scene.serve({}, API);
    await shows(api, 'pay-0 retrying,pay-1 retrying');
    const cancelled = (await client.deliveries(api)).find(({ eventId }) => eventId === 'pay-0');
    await eventually(async () => (await client.cancel(api, cancelled?.id ?? '')) === 202, PATIENCE);
    await api.stop('SIGKILL');

    lose(`${scene.settings.DATA_DIR}/${REQUESTS_FILE}`);
    status = 200;
    const before = sent('pay-0').length;
    const second = await scene.serve();
    await shows(second, 'pay-0 cancelled,pay-1 delivered');
    expect(await second.stop('SIGTERM')).toBe(0);
    expect(sent('pay-0').length).toBe(before);
  });
});
