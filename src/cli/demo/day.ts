/** Makes the day before `demo --keep`: its account, the changes of its configuration, and its payments (story.ts). */
import { randomUUID } from 'node:crypto';
import { type Core, type Stop, startCore } from '../../composition/core.js';
import type { Attempt } from '../../delivery/attempt/attempt.js';
import { classify, type Decided } from '../../delivery/attempt/classification.js';
import { sealedEndpoint } from '../../http/webhooks/webhook-fields.js';
import type { Logger } from '../../observability/logger.js';
import { createMetrics } from '../../observability/metrics.js';
import { Readiness } from '../../observability/readiness.js';
import type { Config } from '../../settings/config.js';
import { createWebhookIds } from '../../webhooks/webhook-ids.js';
import { registrationIn } from '../accounts.js';
import { operatorContext } from '../command-io.js';
import { Past } from './past.js';
import { ACCOUNT, answerTo, DAY_MS, HOUR_MS, PAUSED, paymentOf, paymentsOfADay, WEBHOOKS } from './story.js';

interface Given {
  readonly config: Config;
  readonly logger: Logger;
  readonly urlOf: (path: string) => string;
  /** Now, ms since the epoch. */
  readonly until: number;
}

export type DemoClients = Awaited<ReturnType<typeof makeDay>>;

export async function makeDay({ config, logger, urlOf, until }: Given) {
  const metrics = createMetrics({ eventTypes: [], failureCodes: [], version: '', roles: [], now: Date.now });
  const stops: Stop[] = [() => metrics.close()];
  const start = { config, logger, metrics, tracing: null, readiness: new Readiness() };
  try {
    const core = await startCore({ ...start, givenUp: new Promise<never>(() => undefined) }, stops);
    const past = new Past(core, until - DAY_MS, (at) => describedAttempt(config.delivery.timeoutMs, until, at));
    const registration = registrationIn(core.backbone, () => new Date(past.now));
    const account = await registration.register(ACCOUNT, operatorContext());
    const publisher = await registration.registerPublisher('payments', operatorContext());
    await core.passHead(new AbortController().signal);
    await past.open();
    const payments = paymentsOfADay(until).map(({ at, type }) => ({
      at,
      happen: (n: number) => past.pay(paymentOf(n, type, at)),
    }));
    const changes = changesOf(core, past, urlOf, `${account.clientId}/ana`);
    const all = [...changes.map(({ hoursAgo, happen }) => ({ at: until - hoursAgo * HOUR_MS, happen })), ...payments];
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

function changesOf({ backbone, accounts, handleCommand }: Core, past: Past, urlOf: Given['urlOf'], actor: string) {
  const { store, sealing } = backbone;
  const ids = createWebhookIds(store, randomUUID);
  const checkEndpoint = (href: string) => ({ ok: true, href }) as const;
  const by = { ...operatorContext(), actor };
  const at = () => new Date(past.now).toISOString();
  const set = ([hoursAgo, eventType, path]: (typeof WEBHOOKS)[number]) => ({
    hoursAgo,
    async happen() {
      const endpoint = { url: urlOf(path), headers: [{ key: 'X-Api-Key', value: `key of ${hoursAgo}` }] };
      const sealed = sealedEndpoint({ sealing, checkEndpoint }, ACCOUNT, endpoint);
      await handleCommand(
        ACCOUNT,
        { type: 'RegisterWebhook', ...sealed, eventType, newId: await ids.take(), at: at() },
        by,
      );
    },
  });
  const pause = async () => {
    const known = (await accounts.webhooks(ACCOUNT))?.webhooks.find(({ url }) => url === urlOf(PAUSED.path));
    const webhookId = known?.id ?? 0;
    await handleCommand(ACCOUNT, { type: 'UpdateWebhook', webhookId, isActive: false, at: at() }, by);
  };
  return [...WEBHOOKS.map(set), { hoursAgo: PAUSED.hoursAgo, happen: pause }];
}

/** Sends nothing. */
function describedAttempt(timeoutMs: number, until: number, clock: () => number): Attempt {
  return async ({ url, body }) => {
    const at = clock();
    const answer = answerTo(new URL(url).pathname, body.toString(), (until - at) / HOUR_MS, at);
    const durationMs = answer === 'no-answer' ? timeoutMs : Math.round(20 + 180 * Math.random() ** 3);
    const response = typeof answer === 'object' && 'body' in answer ? { response: answer.body } : {};
    return { at, durationMs, ...classify(decidedBy(answer), at), ...response };
  };
}

function decidedBy(answer: ReturnType<typeof answerTo>): Decided {
  if (answer === 'no-answer') return { kind: 'cancelled', phase: 'waiting-for-headers', reason: 'timeout' };
  if ('status' in answer) return { kind: 'response', status: answer.status, retryAfter: null };
  const error = Object.assign(new Error(answer.code), answer);
  return { kind: 'failed', phase: 'connecting', began: '', error };
}
