/** createApi with parts of the test's choice: a failing store, callers without tokens of their own. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Verification } from '../../../src/accounts/access-tokens.js';
import { createChangeCredentials } from '../../../src/accounts/change-credentials.js';
import { Admission } from '../../../src/http/admission.js';
import type { ApiParts } from '../../../src/http/api-parts.js';
import { listen, type ServerLimits } from '../../../src/http/listen.js';
import { createApi } from '../../../src/http/server.js';
import { Reserve } from '../../../src/limits/reserve.js';
import { createRateLimit } from '../../../src/limits/user-limits.js';
import { loadCatalogue } from '../../../src/payments/event-catalogue.js';
import { type EventStore, NO_STREAM } from '../../../src/ports/event-store.js';
import { createFingerprints } from '../../../src/secrets/fingerprint.js';
import { masterKey } from '../../../src/secrets/master-keys.js';
import { createSealing } from '../../../src/secrets/sealing.js';
import { type HistoryBudget, NO_BUDGET } from '../../../src/webhooks/account-buckets.js';
import type { AccountCommandQueue } from '../../../src/webhooks/account-command-queue.js';
import { enveloped } from '../../../src/webhooks/envelope.js';
import { accountStream } from '../../../src/webhooks/events.js';
import { createCommandHandler, createKeyedCommandHandler } from '../../../src/webhooks/handle-command.js';
import { createWebhookIds } from '../../../src/webhooks/webhook-ids.js';
import { Client } from '../clients/api-client.js';
import { CONTEXT, registered } from '../generators/webhook-samples.js';
import { openSqliteStore } from '../servers/sqlite-store.js';
import { commandDeps } from './command-deps.js';
import { noHttpMetrics } from './no-metrics.js';
import { type ReadModel, startReadModel } from './read-model-fixture.js';
import { type RecordingLogger, recordingLogger } from './recording-logger.js';
import { temporaryDirectory } from './temporary-directory.js';

export interface BareApi {
  readonly port: number;
  readonly url: string;
  readonly logger: RecordingLogger;
  readonly readModel: ReadModel;
  /** Account 42, or another. */
  client(accountId?: number): Client;
  /** A client with this token. */
  readonly as: (token: string) => Client;
  /** The real store, unwrapped. */
  readonly store: EventStore;
  close(): Promise<void>;
}

export interface BareOptions {
  /** The budget of all accounts. Default: none. */
  readonly budget?: HistoryBudget;
  readonly queue?: AccountCommandQueue;
  /** Wraps the real store for commands. */
  readonly between?: (store: EventStore) => EventStore;
  /** Wraps the real store for the read model. */
  readonly readModelOver?: (store: EventStore) => EventStore;
  readonly parts?: Partial<ApiParts>;
  readonly limits?: Partial<ServerLimits>;
}

/** Of `publishing`: nothing is behind. */
export const UNPACED = { behindMs: () => 0, stopping: new AbortController().signal };

/** The token `caller-<n>` is account n's, and `publisher` a publisher's; only account 42 is registered. */
export async function startBareApi(options: BareOptions = {}): Promise<BareApi> {
  const { between = itself, readModelOver = itself, parts = {}, budget = NO_BUDGET, queue } = options;
  const directory = temporaryDirectory();
  const opened = openSqliteStore(directory.path);
  await opened.store.append(accountStream(42), enveloped([registered(42)], CONTEXT, randomUUID), NO_STREAM);
  const store = between(opened.store);
  const logger = recordingLogger();
  const now = parts.now ?? (() => new Date());
  const time = () => now().getTime();
  const readModel = await startReadModel(readModelOver(opened.store), directory.path, time);
  const commands = commandDeps({ store, accounts: readModel.commandAccounts, budget, time, ...(queue && { queue }) });
  const api = createApi({
    accounts: readModel.accounts,
    sendAgain: async () => ({ kind: 'payload-gone' }),
    cancel: async () => ({ kind: 'accepted' }),
    changeCredentials: createChangeCredentials(commands),
    randomBytes,
    store,
    view: { isCaughtUp: false, ask: async () => null, idBehind: async () => null },
    deactivateAfterMs: 0,
    catalogue: loadCatalogue(null),
    payloads: { record: async () => null, keptUntil: async () => null, firstKept: async () => ({}) },
    endpointsOf: async () => new Map(),
    sendTest: async () => ({ kind: 'busy' }),
    clientCertificate: null,
    verifyToken: async (token) => (token === 'publisher' ? PUBLISHER : callerOf(/^caller-(\d+)$/.exec(token)?.[1])),
    publishing: { broker: { publish: async () => [] }, topics: ['payment-events'], ...UNPACED },
    console: { files: null, frameAncestors: null },
    ownTokens: null,
    publicUrl: null,
    handleCommand: createCommandHandler(commands),
    handleKeyedCommand: createKeyedCommandHandler(commands),
    fingerprints: createFingerprints([key]),
    webhookIds: createWebhookIds(store, randomUUID),
    sealing: createSealing([key], randomBytes),
    rateLimits: { writes: unlimited, tests: unlimited, tokens: unlimited },
    reserve: new Reserve(() => 0),
    admission: new Admission({ msPerMinute: 0, now: () => 0 }),
    version: '0.0.0',
    asyncApi: '{}',
    checkEndpoint: (url) => ({ ok: true, href: url }),
    now,
    newRequestId: randomUUID,
    logger,
    metrics: noHttpMetrics,
    tracing: null,
    ...parts,
  });
  const server = await listen(api, '127.0.0.1', 0, options.limits);
  const close = async () => {
    await server.close();
    await readModel.close();
    await opened.close();
    directory.remove();
  };
  const url = `http://127.0.0.1:${server.port}`;
  const as = (token: string, accountId = 42) =>
    new Client(url, { accountId, clientId: '', clientSecret: '', signingSecret: '' }, token);
  const client = (accountId = 42) => as(`caller-${accountId}`, accountId);
  return { port: server.port, url, logger, readModel, client, as: (token) => as(token), store: opened.store, close };
}

const itself = (store: EventStore) => store;
const key = masterKey(Buffer.alloc(32, 7));
const unlimited = createRateLimit(0, () => 0);

const PUBLISHER: Verification = {
  kind: 'verified',
  caller: { publisher: 'payments', accountId: null, actor: 'a publisher', clientId: null },
};

function callerOf(digits: string | undefined): Verification {
  if (digits === undefined) return { kind: 'refused', why: 'it is none of the test' };
  return { kind: 'verified', caller: { accountId: Number(digits), actor: 'a caller', clientId: null } };
}
