/**
 * Heap and resident memory of a service under constant mixed load level off. `make test-nightly PART=memory` runs it for an hour at
 * each rate; MEMORY_SECONDS and MEMORY_RATES (deliveries per second) change that. Caches are bounded, so the first part of the run
 * fills them. A machine that is too busy for the rate has less load and no backlog: what waits takes memory of its own.
 */
import { createServer } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { openBackbone } from '../../src/composition/backbone.js';
import { readConfig } from '../../src/settings/read-config.js';
import { scrape } from '../support/clients/scrape.js';
import { type Service, serve } from '../support/clients/service.js';
import { type MemoryTrend, memoryTrend } from '../support/oracles/memory-floor.js';
import { silentLogger } from '../support/scenes/silent-logger.js';
import { addWebhook, installation, listWebhooks, register, tokenFor } from '../support/scenes/story.js';
import { certificateFor } from '../support/servers/certificates.js';
import { listen } from '../support/servers/receiver.js';

const SECONDS = Number(process.env.MEMORY_SECONDS ?? 0);
const RATES = (process.env.MEMORY_RATES ?? '1000,100').split(',').map(Number);
const ACCOUNTS = 20;
const URLS = 3;
const BATCHES_PER_SECOND = 10;
const SAMPLES = 180;
const HANG_MS = 600_000;
const METRICS = { resident: 'process_resident_memory_bytes', heap: 'nodejs_heap_size_used_bytes' } as const;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

/** A receiver that keeps nothing of what it gets. */
async function startSink() {
  let received = 0;
  const server = createServer(await certificateFor(), (request, response) => {
    request.resume().once('end', () => {
      received += 1;
      response.end();
    });
  });
  const { port, close } = await listen(server, 0);
  return { port, url: `https://localhost:${port}`, received: () => received, close };
}

const nightly = SECONDS > 0 ? test.each(RATES) : test.skip.each(RATES);

nightly(
  'memory levels off at %i deliveries per second',
  async (perSecond) => {
    const sink = await startSink();
    cleanups.push(sink.close);
    const { settings, remove } = await installation([sink]);
    cleanups.push(remove);
    const service = await serve(settings);
    cleanups.push(() => service.stop('SIGTERM'));
    const tokens = await registerAccounts(service, settings, sink.url);
    const samples: { resident: number; heap: number }[] = [];
    const end = new AbortController();
    const load = Promise.all([
      publish(settings, perSecond / URLS, sink.received, end.signal),
      change(service, tokens, end.signal),
    ]);
    cleanups.push(() => {
      end.abort();
      return load.catch(() => undefined);
    });
    const until = performance.now() + 1_000 * SECONDS;
    while (performance.now() < until) {
      await Promise.race([delay((1_000 * SECONDS) / SAMPLES), load]);
      samples.push(...(await sampled(service)));
    }
    end.abort();
    await load;
    const [resident, heap] = [samples.map((one) => one.resident), samples.map((one) => one.heap)].map(memoryTrend);
    const mib = (bytes = Number.NaN) => Math.round(bytes / 1024 ** 2);
    const shown = (trend?: MemoryTrend) =>
      `${mib(trend?.level)} (floors ${trend?.floors.map(mib)}, growth ${mib(trend?.growth)})`;
    console.log(
      `${perSecond}/s for ${SECONDS} s: ${sink.received()} deliveries; MiB in the last third: resident ${shown(resident)}, ` +
        `heap ${shown(heap)}; every tenth sample: ${samples.filter((_, n) => n % 10 === 0).map(({ resident: rss, heap: used }) => `${mib(rss)}/${mib(used)}`)}`,
    );
    expect({ resident: resident?.levelsOff, heap: heap?.levelsOff }).toEqual({ resident: true, heap: true });
  },
  SECONDS * 1_000 + HANG_MS,
);

async function registerAccounts(service: Service, settings: Parameters<typeof register>[0], url: string) {
  const tokens: string[] = [];
  for (let id = 1; id <= ACCOUNTS; id += 1) {
    const token = await tokenFor(service.url, await register(settings, id));
    for (let n = 1; n <= URLS; n += 1)
      await addWebhook(service.url, token, { url: `${url}/${id}/${n}`, eventType: 'cash_in' });
    tokens.push(token);
  }
  return tokens;
}

/** None if the service closes its idle connection just then. */
async function sampled({ adminUrl }: Service) {
  const metrics = await scrape(adminUrl).catch(() => null);
  const bytes = (name: string) => metrics?.value(name) ?? Number.NaN;
  return metrics ? [{ resident: bytes(METRICS.resident), heap: bytes(METRICS.heap) }] : [];
}

/** At a constant rate, with at most a second's payments under way, from another connection to the broker. */
async function publish(
  settings: Parameters<typeof register>[0],
  perSecond: number,
  received: () => number,
  signal: AbortSignal,
) {
  const backbone = await openBackbone(readConfig(settings), silentLogger);
  const [topic] = backbone.topics.payments;
  try {
    for (let [sent, due, last] = [0, 0, performance.now()]; !signal.aborted; ) {
      const now = performance.now();
      due = Math.min(due + ((now - last) / 1_000) * perSecond, received() / URLS + perSecond);
      last = now;
      const records = Array.from({ length: Math.max(0, Math.floor(due) - sent) }, (_, n) => paymentOf(sent + n));
      if (records.length > 0) await backbone.broker.publish(topic, records);
      sent += records.length;
      await delay(1_000 / BATCHES_PER_SECOND);
    }
  } finally {
    await backbone.close();
  }
}

function paymentOf(n: number) {
  const accountId = 1 + (n % ACCOUNTS);
  const data = { amount: '10.00', endToEndId: `E${n}` };
  const event = { id: `pay-${n}`, type: 'cash_in', accountId, timestamp: new Date().toISOString(), data };
  return { key: Buffer.from(String(accountId)), value: Buffer.from(JSON.stringify(event)), headers: [] };
}

/** Each second one account reads its webhooks and deliveries, and changes a webhook. */
async function change({ url }: Service, tokens: readonly string[], signal: AbortSignal) {
  for (let n = 0; !signal.aborted; n += 1) {
    const token = tokens[n % tokens.length] ?? '';
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const request = async () => {
      const { webhooks } = await listWebhooks({ url }, token);
      await (await fetch(`${url}/api/events?arrived=incomplete`, { headers })).arrayBuffer();
      const body = JSON.stringify({ headers: [{ key: 'X-Version', value: String(n) }] });
      const changed = await fetch(`${url}/api/webhooks/${webhooks[0]?.id}`, { method: 'PATCH', headers, body });
      await changed.arrayBuffer();
    };
    await request().catch(() => undefined);
    await delay(1_000);
  }
}
