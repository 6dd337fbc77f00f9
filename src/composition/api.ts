/** Assembles the API role from the settings: its server, its view of deliveries, and what it sends itself. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { MessageChannel, Worker } from 'node:worker_threads';
import { createChangeCredentials } from '../accounts/change-credentials.js';
import { IssuerKeys } from '../accounts/issuer-keys.js';
import { createIssuerTokens } from '../accounts/issuer-tokens.js';
import { createOwnTokens } from '../accounts/own-tokens.js';
import { RecordLog } from '../adapters/sqlite/record-log.js';
import { openThreadedView, type ThreadedViewParts } from '../adapters/thread/threaded-view.js';
import { RecoveryRunner } from '../delivery/again/recovery-runner.js';
import { createCancelDelivery, createSendAgain } from '../delivery/again/send-again.js';
import { createDeliverySecrets } from '../delivery/attempt/send.js';
import { createSendTestEvent, type SendTestEvent } from '../delivery/attempt/test-event.js';
import { longestTierMs } from '../delivery/retry/retry-schedule.js';
import { type ParsedEndpoint, parseEndpoint } from '../endpoints/endpoint-url.js';
import { Admission } from '../http/admission.js';
import type { ApiParts } from '../http/api-parts.js';
import { readConsoleFiles } from '../http/console.js';
import { listen } from '../http/listen.js';
import { createApi } from '../http/server.js';
import { Reserve } from '../limits/reserve.js';
import { createRateLimit } from '../limits/user-limits.js';
import type { Logger } from '../observability/logger.js';
import { packageFile, version } from '../package-file.js';
import type { DeliveriesView } from '../ports/deliveries-view.js';
import type { PublishedPayloads } from '../ports/published-payloads.js';
import { createEndpointsOf } from '../read-model/removed-webhooks.js';
import { ViewFollower } from '../read-model/view-follower.js';
import { createFingerprints } from '../secrets/fingerprint.js';
import type { Config } from '../settings/read-config.js';
import { TokenBuckets } from '../time/token-buckets.js';
import { createRequestBudget } from '../webhooks/account-buckets.js';
import { createKeyedCommandHandler } from '../webhooks/handle-command.js';
import { createWebhookIds } from '../webhooks/webhook-ids.js';
import type { Backbone } from './backbone.js';
import type { Core, Stop } from './core.js';
import { shownCertificate } from './delivery-attempt.js';
import { publishedPayloads } from './retention.js';
import type { ViewThreadData } from './view-thread.js';

const clock = { now: () => Date.now() };
const now = () => new Date(clock.now());
const monotonic = () => performance.now();
/** Shorter than the server's drain, so clients still get the result of an interrupted test, and of events that wait. */
const WAITING_ENDS_AFTER_MS = 1_000;
/** Per account; a user may send half of them. A test costs its receiver, and this process, a handshake and a slot. */
const TESTS_PER_MINUTE = 60;
/** Of an account, by all of its recoveries in this process. */
const RECOVERED_PER_SECOND = 100;

/** @param behindMs how far the dispatcher of this process is behind */
export async function startListening(
  core: Core,
  stops: Stop[],
  { view, admission }: ReadingDeliveries,
  behindMs: () => number,
) {
  const { config, logger, backbone, accounts, handleCommand } = core;
  const stopping = new AbortController();
  const payloads = publishedPayloads(config, backbone, logger, core.metrics.http.skippedPayment);
  const api = createApi({
    ...tokens(core, stops),
    catalogue: core.catalogue,
    store: backbone.store,
    view,
    deactivateAfterMs: config.DEACTIVATE_AFTER,
    publicUrl: config.PUBLIC_URL,
    accounts,
    ...sendingAgain(core, view, payloads, stops),
    changeCredentials: createChangeCredentials(core.commands),
    randomBytes,
    payloads,
    endpointsOf: createEndpointsOf(backbone.store),
    sendTest: testEvents(core, stopping.signal),
    clientCertificate: shownCertificate(config),
    publishing: { broker: backbone.broker, topics: config.PAYMENT_TOPICS, behindMs, stopping: stopping.signal },
    handleCommand,
    sealing: backbone.sealing,
    webhookIds: createWebhookIds(backbone.store, randomUUID),
    checkEndpoint: endpointCheck(config),
    handleKeyedCommand: createKeyedCommandHandler(core.commands),
    fingerprints: createFingerprints([backbone.masterKey, ...backbone.previousKeys]),
    rateLimits: rateLimits(config),
    reserve: new Reserve(monotonic),
    admission,
    console: consoleParts(core),
    version: version(),
    asyncApi: readFileSync(packageFile('docs/asyncapi.json'), 'utf8'),
    now,
    logger,
    metrics: core.metrics.http,
    tracing: core.tracing,
    newRequestId: randomUUID,
  });
  core.readiness.part('api', () => null);
  const server = await listen(api, config.HOST, config.PORT, { connections: config.MAX_CONNECTIONS });
  stops.push(async () => {
    const timer = setTimeout(() => stopping.abort(), WAITING_ENDS_AFTER_MS);
    await server.close();
    clearTimeout(timer);
  });
  return server;
}

function tokens(core: Core, stops: Stop[]): Pick<ApiParts, 'verifyToken' | 'ownTokens'> {
  const { config, backbone } = core;
  const rules = { issuer: config.AUTH_ISSUER, audience: config.AUTH_AUDIENCE, clock };
  if (config.AUTH_JWKS_URL) {
    const keys = issuerKeys(config.AUTH_JWKS_URL, core, stops);
    const { AUTH_ACCOUNT_CLAIM: accountClaim, AUTH_CLOCK_TOLERANCE: clockToleranceMs } = config;
    const publisherScope = config.AUTH_PUBLISHER_SCOPE;
    const verifyToken = createIssuerTokens({ ...rules, accountClaim, clockToleranceMs, publisherScope, keys });
    return { verifyToken, ownTokens: null };
  }
  const { masterKey, previousKeys } = backbone;
  const purpose = 'access-tokens';
  const previous = previousKeys.map((key) => key.derive(purpose));
  const keys = [masterKey.derive(purpose), ...previous] as const;
  const ownTokens = createOwnTokens({ ...rules, keys, lifetimeMs: config.TOKEN_LIFETIME });
  return { verifyToken: ownTokens.verify, ownTokens };
}

/**
 * Without keys every request is a 503, so the process is not ready until it has them: a new process with a wrong
 * AUTH_JWKS_URL gets no traffic. After that, an outage of the issuer is reported but the process stays ready: it
 * verifies with its cached keys, and every other process has lost the issuer too.
 */
function issuerKeys(url: string, { logger, readiness }: Core, stops: Stop[]): IssuerKeys {
  const keys = new IssuerKeys({ url, logger, now: monotonic });
  readiness.part('issuer keys', () => keys.whyNot, { needed: () => !keys.areInHand });
  keys.start();
  stops.push(() => keys.close());
  return keys;
}

function consoleParts({ config, logger }: Core): ApiParts['console'] {
  const files = readConsoleFiles(packageFile('dist/console/'));
  if (!files) logger.warn('the console was not built: /console answers 404');
  return { files, frameAncestors: config.CONSOLE_FRAME_ANCESTORS };
}

function rateLimits(config: Config) {
  return {
    writes: createRateLimit(config.RATE_LIMIT_WRITES, monotonic),
    tests: createRateLimit(TESTS_PER_MINUTE, monotonic),
    tokens: createRateLimit(config.RATE_LIMIT_TOKENS, monotonic),
  };
}

function endpointCheck(config: Config): (url: string) => ParsedEndpoint {
  const { ALLOWED_PORTS: allowedPorts, ALLOW_PRIVATE_ENDPOINTS: allowPrivate, DENIED_ADDRESSES: denied } = config;
  const rules = { allowedPorts, allowPrivate, ...(denied && { denied }) };
  return (url) => parseEndpoint(url, rules);
}

interface ReadingDeliveries {
  readonly view: ViewFollower;
  /** Of the API: what the view answers is charged too. */
  readonly admission: Admission;
}

/** Returns at once, even if the broker is unreachable. */
export function followDeliveries(core: Core, stops: Stop[]): ReadingDeliveries {
  const { config, logger, backbone, accounts } = core;
  const { topics } = backbone;
  const admission = new Admission({ msPerMinute: config.RATE_LIMIT_READS, now: monotonic });
  const took = (owner: number, user: string, ms: number) => admission.charge({ owner, user }, ms);
  const view = new ViewFollower({
    broker: backbone.broker,
    open: () => openDeliveriesView(config, logger, { webhookIds: accounts.webhookIds, took }),
    topics,
    lostBefore: lostBefore(config, backbone, topics.deliveries),
    logger,
  });
  view.start();
  core.metrics.watched.consumers.set('deliveries-view', () => view.state().consumer);
  core.readiness.part('deliveries view', () => view.state().why, { needed: false });
  stops.push(() => view.close());
  return { view, admission };
}

/** In a thread of its own. @throws ViewRefused, ViewEnded */
export function openDeliveriesView(
  { DATA_DIR: dataDir, DELIVERIES_VIEW_SIZE: size }: Pick<Config, 'DATA_DIR' | 'DELIVERIES_VIEW_SIZE'>,
  logger: Logger,
  parts: Omit<ThreadedViewParts, 'onDamaged'>,
): Promise<DeliveriesView> {
  const { port1: own, port2: port } = new MessageChannel();
  const thread = new Worker(new URL(import.meta.resolve('./view-thread.js')), {
    workerData: { dataDir, size, port } satisfies ViewThreadData,
    transferList: [port],
  });
  thread.on('error', (err) => logger.error({ err }, 'the thread of the deliveries view has failed'));
  const onDamaged = (file: string) =>
    logger.warn({ file }, 'the deliveries view is damaged or from another release: rebuilding it');
  return openThreadedView(own, { ...parts, onDamaged });
}

/** What the API sends again, and the recoveries that this process runs. */
function sendingAgain(core: Core, view: ViewFollower, payloads: PublishedPayloads, stops: Stop[]) {
  const { config, logger, backbone, accounts, recoveries, handleCommand } = core;
  const { broker, topics } = backbone;
  const budget = createRequestBudget(monotonic);
  const sendAgain = createSendAgain({ broker, payloads, topics, accounts, schedule: config.RETRY_SCHEDULE, budget });
  const sends = new TokenBuckets({ holdsMs: 1_000, now: monotonic });
  const runner = new RecoveryRunner({
    broker,
    topics,
    group: config.KAFKA_GROUP,
    view,
    accounts,
    recoveries,
    sendAgain,
    handleCommand,
    logger,
    now: Date.now,
    monotonicNow: monotonic,
    takeSend: (accountId) => {
      sends.overdraw(accountId, 1_000 / RECOVERED_PER_SECOND);
      return sends.overdrawnFor(accountId);
    },
  });
  runner.start();
  stops.push(() => runner.close());
  return { sendAgain, cancel: createCancelDelivery({ broker, topics, budget }) };
}

/** @param interrupt aborted when tests in progress must end */
function testEvents(core: Core, interrupt: AbortSignal): SendTestEvent {
  const { accounts, attempt, backbone, breakers } = core;
  const configuration = createDeliverySecrets(accounts, backbone.sealing, Date.now);
  return createSendTestEvent({ attempt, breakers, configuration, newId: randomUUID, now: Date.now, interrupt });
}

/** On Kafka: the retention that topics are created with. The embedded broker knows its oldest record. */
function lostBefore(config: Config, { embedded }: Backbone, topic: string): () => number | null {
  if (config.BROKER_URL) return () => Date.now() - config.KAFKA_RETENTION - longestTierMs(config.RETRY_SCHEDULE);
  const log = embedded && new RecordLog(embedded);
  return () => log?.completeSince(topic) ?? null;
}
