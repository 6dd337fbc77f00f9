/** Makes the day before `demo --keep`: its account, the changes of its configuration, and its payments (demo-story.ts). */
import { randomUUID } from 'node:crypto';
import { type Core, type Stop, startCore } from '../composition/core.js';
import type { Attempt } from '../delivery/attempt/attempt.js';
import { classify, type Decided } from '../delivery/attempt/classification.js';
import { FAILURE_CODES } from '../endpoints/failure.js';
import { sealedEndpoint } from '../http/webhooks/webhook-fields.js';
import type { Logger } from '../observability/logger.js';
import { createMetrics } from '../observability/metrics.js';
import { Readiness } from '../observability/readiness.js';
import { noTracing } from '../observability/tracing.js';
import { version } from '../package-file.js';
import type { Config } from '../settings/config.js';
import type { CommandContext } from '../webhooks/envelope.js';
import { EVENT_TYPES, type EventType } from '../webhooks/limits.js';
import { createWebhookIds } from '../webhooks/webhook-ids.js';
import { registrationIn } from './accounts.js';
import { operatorContext } from './command-io.js';
import { Past } from './demo-past.js';
import {
  ACCOUNT,
  answerTo,
  DAY_MS,
  HOUR_MS,
  PAUSED,
  paymentsOfADay,
  publishedPayment,
  RECONFIGURED,
  ROTATED,
  type StoryAnswer,
  WEBHOOKS,
} from './demo-story.js';

interface Given {
  readonly config: Config;
  readonly logger: Logger;
  readonly urlOf: (path: string) => string;
  /** Now, ms since the epoch. */
  readonly until: number;
}

export interface DemoClients {
  readonly account: { readonly clientId: string; readonly clientSecret: string };
  readonly publisher: { readonly clientId: string; readonly clientSecret: string };
}

export async function makeDay(given: Given): Promise<DemoClients> {
  const { config, logger } = given;
  const labels = { eventTypes: EVENT_TYPES, failureCodes: FAILURE_CODES };
  const metrics = createMetrics({ ...labels, version: version(), roles: [], now: Date.now });
  const stops: Stop[] = [() => metrics.close()];
  const start = { config, logger, metrics, tracing: noTracing, readiness: new Readiness() };
  try {
    const core = await startCore({ ...start, givenUp: new Promise<never>(() => undefined) }, stops);
    return await pass(core, given);
  } finally {
    for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
  }
}

async function pass(core: Core, given: Given): Promise<DemoClients> {
  const { until } = given;
  const past = new Past(core, until - DAY_MS, (at) => describedAttempt(core.config, until, at));
  const registration = registrationIn(core.backbone, () => new Date(past.now));
  const account = await registration.register(ACCOUNT, operatorContext());
  const publisher = await registration.registerPublisher('payments', operatorContext());
  await core.passHead(new AbortController().signal);
  await past.open();
  const payments = paymentsOfADay(until).map((payment) => ({
    at: payment.at,
    happen: () => past.pay(publishedPayment(payment)),
  }));
  const by = (user: string) => ({ ...operatorContext(), actor: `${account.clientId}/${user}` });
  const rotate = async () => {
    await registration.rotateSecret(ACCOUNT, by('bruno'));
    await core.passHead(new AbortController().signal);
  };
  const changes = [
    ...changesOf(core, given, past, () => by('ana')),
    { at: until - ROTATED.hoursAgo * HOUR_MS, happen: rotate },
  ];
  for (const { at, happen } of [...changes, ...payments].sort((one, other) => one.at - other.at)) {
    await past.passTo(at);
    await happen();
  }
  await past.passTo(until);
  await past.close();
  return { account, publisher };
}

function changesOf(core: Core, { urlOf, until }: Given, past: Past, by: () => CommandContext) {
  const { store, sealing } = core.backbone;
  const ids = createWebhookIds(store, randomUUID);
  const checkEndpoint = (href: string) => ({ ok: true, href }) as const;
  const time = () => new Date(past.now).toISOString();
  const set = async (path: string, eventType: EventType, value: string) => {
    const endpoint = { url: urlOf(path), headers: [{ key: 'X-Api-Key', value }] };
    const sealed = sealedEndpoint({ sealing, checkEndpoint }, ACCOUNT, endpoint);
    const command = { type: 'RegisterWebhook', ...sealed, eventType, newId: await ids.take(), at: time() } as const;
    await core.handleCommand(ACCOUNT, command, by());
  };
  const pause = async (path: string) => {
    const known = (await core.accounts.webhooks(ACCOUNT))?.webhooks.find(({ url }) => url === urlOf(path));
    const command = { type: 'UpdateWebhook', webhookId: known?.id ?? 0, isActive: false, at: time() } as const;
    await core.handleCommand(ACCOUNT, command, by());
  };
  const changes = [
    ...WEBHOOKS.map(({ path, eventType, hoursAgo }) => ({ hoursAgo, happen: () => set(path, eventType, 'a key') })),
    { hoursAgo: PAUSED.hoursAgo, happen: () => pause(PAUSED.path) },
    { hoursAgo: RECONFIGURED.hoursAgo, happen: () => set(RECONFIGURED.path, 'cash_in', 'another key') },
  ];
  return changes.map(({ hoursAgo, happen }) => ({ at: until - hoursAgo * HOUR_MS, happen }));
}

/** Sends nothing. */
function describedAttempt({ delivery: { timeoutMs } }: Config, until: number, clock: () => number): Attempt {
  return async ({ url, body }) => {
    const at = clock();
    const hoursAgo = (until - at) / HOUR_MS;
    const answer = answerTo({ path: new URL(url).pathname, body: body.toString(), hoursAgo, at });
    const durationMs = answer === 'no-answer' ? timeoutMs : Math.round(20 + 180 * Math.random() ** 3);
    const response = typeof answer === 'object' && 'body' in answer ? { response: answer.body } : {};
    return { at, durationMs, ...classify(decidedBy(answer), at), ...response };
  };
}

function decidedBy(answer: StoryAnswer): Decided {
  if (answer === 'no-answer') return { kind: 'cancelled', phase: 'waiting-for-headers', reason: 'timeout' };
  if ('status' in answer) return { kind: 'response', status: answer.status, retryAfter: null };
  const error = Object.assign(new Error(answer.code), answer);
  return { kind: 'failed', phase: 'connecting', began: '', error };
}
