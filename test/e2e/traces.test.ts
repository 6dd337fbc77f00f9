/** One trace from a request, or a payment's record, to the audit log, the endpoint and the collector of spans. */
import { openBackbone } from '../../src/composition/backbone.js';
import { readConfig } from '../../src/settings/read-config.js';
import type { Backbone } from '../support/backbones.js';
import { type CollectedSpan, type Collector, startCollector } from '../support/collector.js';
import { header } from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.js';
import { jsonLines, run, type Service, type Settings, serve } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { installation, paymentEvents, register, tokenFor } from '../support/story.js';

const ACCOUNT = 42;
const PATIENCE = { timeout: 20_000 };
const TRACE = { request: 'a'.repeat(32), payment: 'b'.repeat(32) };
const SPAN = 'b7ad6b7169203331';
const traceparent = (traceId: string) => `00-${traceId}-${SPAN}-01`;

/** A service with one webhook, registered by a request of the trace, whose endpoint refuses each delivery once. */
class Scene {
  service!: Service;
  receiver!: Receiver;
  #settings!: Settings;
  #remove!: () => Promise<void>;
  #token!: string;

  static async open(more: Settings, backbone?: Backbone): Promise<Scene> {
    const scene = new Scene();
    const respond = (request: ReceivedRequest) => ({ status: scene.#isFirst(request) ? 503 : 200 });
    scene.receiver = await startReceiver({ respond });
    const { settings, remove } = await installation([scene.receiver], backbone);
    scene.#settings = { ...settings, RETRY_SCHEDULE: '100ms,100ms', LOG_LEVEL: 'debug', ...more };
    scene.#remove = remove;
    scene.service = await serve(scene.#settings);
    const account = await register(scene.#settings, ACCOUNT);
    scene.#token = await tokenFor(scene.service.url, account);
    expect(await scene.#addWebhook()).toBe(200);
    return scene;
  }

  get url(): string {
    return `${this.receiver.url}/secret-path?key=secret-query`;
  }

  async #addWebhook(): Promise<number> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({
      url: this.url,
      eventType: 'cash_in',
      headers: [{ key: 'X-Own', value: 'secret-value' }],
    });
    const traced = { ...headers, traceparent: traceparent(TRACE.request), tracestate: 'a=1' };
    return (await fetch(`${this.service.url}/api/webhooks`, { method: 'POST', headers: traced, body })).status;
  }

  #isFirst({ headers }: ReceivedRequest): boolean {
    return this.receiver.requests.filter((one) => one.headers['webhook-id'] === headers['webhook-id']).length === 1;
  }

  /** As a payment system would; what came of it, an attempt and the one after it. */
  async pay(id: string, headers: Readonly<Record<string, string>>): Promise<ReceivedRequest[]> {
    const { broker, close } = await openBackbone(readConfig(this.#settings), silentLogger);
    const value = Buffer.from(paymentEvents(ACCOUNT, 1, id).trim());
    const record = {
      key: Buffer.from('42'),
      value,
      headers: Object.entries(headers).map(([key, text]) => header(key, text)),
    };
    await broker.publish(this.#settings.PAYMENT_TOPICS ?? 'payment-events', [record]);
    await close();
    return eventually(() => {
      const came = this.receiver.requests.filter(({ body }) => body.equals(value));
      return came.length >= 2 && came;
    }, PATIENCE);
  }

  async webhookAdded(): Promise<Record<string, unknown> | undefined> {
    const { stdout } = await run(this.#settings, ['audit', 'log', '--account', String(ACCOUNT), '--json']);
    return jsonLines(stdout).find(({ type }) => type === 'WebhookAdded');
  }

  logged(msg: string): Record<string, unknown>[] {
    const lines = this.service
      .log()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line.msg === msg);
  }

  async close(): Promise<void> {
    await this.service.stop('SIGTERM');
    await this.receiver.close();
    await this.#remove();
  }
}

const sentBy = (request: ReceivedRequest | undefined) => String(request?.headers.traceparent).split('-');

describe('with a collector', () => {
  let collector: Collector;
  let scene: Scene;
  let traced: ReceivedRequest[];
  let untraced: ReceivedRequest[];
  let spans: readonly CollectedSpan[];

  beforeAll(async () => {
    collector = await startCollector();
    scene = await Scene.open({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'hooks' });
    traced = await scene.pay('traced', { traceparent: traceparent(TRACE.payment) });
    untraced = await scene.pay('untraced', {});
    // What is not exported by then, the stop has to export.
    expect(await scene.service.stop('SIGTERM')).toBe(0);
    spans = collector.spans();
  });
  afterAll(async () => {
    await scene.close();
    await collector.close();
  });

  const one = (name: string, traceId: string) => spans.filter((span) => span.name === name && span.traceId === traceId);
  const [processing] = ['process payment-events'];

  test('a request is a span, and the append a child of it; the event says so', async () => {
    const [request] = one('POST /api/webhooks', TRACE.request);
    expect(request).toMatchObject({ parentSpanId: SPAN, kind: 2, attributes: { 'http.response.status_code': 200 } });
    expect(one('append', TRACE.request)).toMatchObject([{ parentSpanId: request?.spanId, kind: 3 }]);
    expect(await scene.webhookAdded()).toMatchObject({ traceparent: `00-${TRACE.request}-${request?.spanId}-01` });
    expect(collector.resource()).toMatchObject({ 'service.name': 'hooks' });
  });

  test.each([
    ['of its record', () => traced, TRACE.payment, SPAN],
    ['of its own', () => untraced, null, undefined],
  ])('a payment in a trace %s: fan-out, its attempts, and a link over the wait', (_, requests, given, parentSpanId) => {
    const traceId = given ?? sentBy(requests()[0])[1] ?? '';
    const [fanOut] = one(processing ?? '', traceId);
    expect(fanOut).toMatchObject({ kind: 5, status: { code: 0 } });
    expect(fanOut?.parentSpanId).toBe(parentSpanId);
    const attempts = requests().map((request) => spans.find(({ spanId }) => spanId === sentBy(request)[2]));
    const common = { name: 'POST', kind: 3, traceId, parentSpanId: fanOut?.spanId };
    expect(attempts).toMatchObject([
      { ...common, attributes: { 'error.type': '503', 'server.address': 'localhost' } },
      {
        ...common,
        attributes: { 'http.response.status_code': 200 },
        links: [{ traceId, spanId: attempts[0]?.spanId }],
      },
    ]);
  });

  test('nothing of what may be secret is exported', () => {
    const exported = JSON.stringify(collector.requests);
    expect(exported).toContain(TRACE.payment);
    expect(exported).not.toMatch(/secret-|whsec_|Bearer/);
  });
});
