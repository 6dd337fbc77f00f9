/** Makes the day before `demo --keep`: its account, the changes of its configuration, and its payments (story.ts). */
import { randomUUID } from 'node:crypto';
import { type Core, type Stop, startCore } from '../../composition/core.js';
import type { Attempt } from '../../delivery/attempt/attempt.js';
import { classify } from '../../delivery/attempt/classification.js';
import { sealedEndpoint } from '../../http/webhooks/webhook-fields.js';
import type { Logger } from '../../observability/logger.js';
import { createMetrics } from '../../observability/metrics.js';
import { Readiness } from '../../observability/readiness.js';
import type { Config } from '../../settings/read-config.js';
import { createWebhookIds } from '../../webhooks/webhook-ids.js';
import { registrationIn } from '../accounts.js';
import { operatorContext } from '../command-io.js';
import { Past } from './past.js';
import { ACCOUNT, answerTo, DAY_MS, HOUR_MS, paymentOf, paymentsOfADay, WEBHOOKS } from './story.js';

interface Given {
  readonly config: Config;
  readonly logger: Logger;
  /** Its origin. */
  readonly receiver: string;
  /** Now, ms since the epoch. */
  readonly until: number;
}

export type DemoClients = Awaited<ReturnType<typeof makeDay>>;

export async function makeDay(given: Given) {
  const { until } = given;
  const metrics = createMetrics({ eventTypes: [], failureCodes: [], version: '', roles: [] });
  const stops: Stop[] = [() => metrics.close()];
  const givenUp = new Promise<never>(() => undefined);
  try {
    const core = await startCore({ ...given, metrics, tracing: null, readiness: new Readiness(), givenUp }, stops);
    const past: Past = new Past(core, until - DAY_MS, (request) => described(request, given, past.now));
    const registration = registrationIn(core.backbone, () => new Date(past.now));
    const account = await registration.register(ACCOUNT, operatorContext());
    const publisher = await registration.registerPublisher('payments', operatorContext());
    await core.passHead(new AbortController().signal);
    const payments = paymentsOfADay(until).map(({ at, type }) => {
      return { at, happen: (n: number) => past.pay(paymentOf(n, type, at)) };
    });
    const all = [...changesOf(core, past, given, `${account.clientId}/ana`), ...payments];
    for (const [n, { at, happen }] of all.sort((one, other) => one.at - other.at).entries()) {
      await past.passTo(at);
      await happen(n);
    }
    await past.passTo(until);
    await past.close();
    return { account, publisher };
  } finally {
    for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
  }
}

function changesOf({ backbone, handleCommand }: Core, past: Past, { receiver, until }: Given, actor: string) {
  const { store, sealing } = backbone;
  const ids = createWebhookIds(store, randomUUID);
  const parts = { sealing, checkEndpoint: (href: string) => ({ ok: true, href }) as const };
  const by = { ...operatorContext(), actor };
  return WEBHOOKS.map(([hoursAgo, eventType, path]) => ({
    at: until - hoursAgo * HOUR_MS,
    happen: async () => {
      const at = new Date(past.now).toISOString();
      const headers = [{ key: 'X-Api-Key', value: `key of ${hoursAgo}` }];
      const endpoint = sealedEndpoint(parts, ACCOUNT, { url: receiver + path, headers });
      const command = { type: 'RegisterWebhook', ...endpoint, eventType, newId: await ids.take(), at } as const;
      await handleCommand(ACCOUNT, command, by);
    },
  }));
}

/** Sends nothing. @param at ms since the epoch */
async function described({ url, body }: Parameters<Attempt>[0], { config, until }: Given, at: number) {
  const { decided, body: response } = answerTo(new URL(url).pathname, body.toString(), until, at);
  const isLate = decided.kind === 'cancelled';
  const durationMs = isLate ? config.DELIVERY_TIMEOUT : Math.round(20 + 180 * Math.random() ** 3);
  return { at, durationMs, ...classify(decided, at), ...(response && { response }) };
}
