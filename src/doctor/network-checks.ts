/** Checks PORT and ADMIN_PORT (free, or in use by our own service, and what it reports) and AUTH_JWKS_URL (keys). */
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fetchKeySet } from '../accounts/fetch-key-set.js';
import { ENOUGH_BYTES } from '../adapters/kafka/topic-config.js';
import { MEND_THE_LOG, OWN_GROUP } from '../delivery/topics.js';
import type { PartState } from '../observability/readiness.js';
import type { Config } from '../settings/read-config.js';
import { type Check, type Finding, fail, ok, REMEDIES, warn } from './check.js';

const ANSWER_WITHIN_MS = 2_000;
/** A service that has just started lacks components for a moment: only what it still lacks after this time is reported. */
const SETTLES_WITHIN_MS = 5_000;
const POLL_INTERVAL_MS = 250;
/** For 0.0.0.0 and ::, the address to connect to. */
const ANY: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * @param serving whether a service of these settings runs here
 * @param settlesWithinMs how long components of a service that has just started may lack
 */
export function portChecks(
  config: Pick<Config, 'HOST' | 'PORT' | 'ADMIN_PORT'>,
  serving: boolean,
  settlesWithinMs = SETTLES_WITHIN_MS,
): Check[] {
  const { HOST: host, PORT: port, ADMIN_PORT: adminPort } = config;
  return [
    { name: 'PORT', run: async () => [await usable(host, port, serving)] },
    {
      name: 'ADMIN_PORT',
      run: async () => [
        await usable(host, adminPort, serving),
        ...(serving ? await settled(host, adminPort, settlesWithinMs) : []),
      ],
    },
  ];
}

async function usable(host: string, port: number, isOurs: boolean): Promise<Finding> {
  if (port === 0) return ok('any free port is used');
  const code = await whyNotListening(host, port);
  if (code === null) return ok(`${port} is free: no service of these settings is running here`);
  if (code !== 'EADDRINUSE' && code !== 'EACCES')
    return fail(`HOST ${host} is not an address of this machine (${code})`, 'correct HOST');
  // A service may have a right to the port that this process lacks.
  if (isOurs) return ok(`${port} is in use, and a service of these settings runs here`);
  if (code === 'EACCES') return fail(`no permission to use ${port}`, 'set another port');
  return fail(`another program uses ${port}`, 'stop it, or set another port');
}

/** Whether a service of these settings runs here: then it knows its event store and its partitions itself. */
export async function isServing({ HOST, ADMIN_PORT }: Config): Promise<boolean> {
  return ADMIN_PORT !== 0 && (await ask(ANY[HOST] ?? HOST, ADMIN_PORT, '/health/live'))?.body.status === 'live';
}

/** What the service reports on its readiness, once it has settled. */
async function settled(host: string, port: number, withinMs: number): Promise<readonly Finding[]> {
  const startedAt = performance.now();
  let ready = await readiness(host, port);
  while (ready.lacking.length > 0 && performance.now() - startedAt < withinMs) {
    await setTimeout(POLL_INTERVAL_MS);
    ready = await readiness(host, port);
  }
  return toFindings(ready);
}

interface Readiness {
  /** Null without a response. */
  readonly status: number | null;
  /** Components that are not ready. */
  readonly lacking: readonly PartState[];
}

async function readiness(host: string, port: number): Promise<Readiness> {
  const response = await ask(ANY[host] ?? host, port, '/health/ready');
  const parts = Array.isArray(response?.body.parts) ? (response.body.parts as PartState[]) : [];
  return { status: response?.status ?? null, lacking: parts.filter((one) => !one.ready) };
}

function toFindings({ status, lacking }: Readiness): readonly Finding[] {
  const findings = lacking.map(({ part, needed, why = 'not ready' }) =>
    (needed ? fail : warn)(`${part}: ${why}`, OF_PARTS[part] ?? SEE),
  );
  if (status === 200) return [...findings, ok('the service is ready')];
  return [...findings, fail('the service is not ready', SEE)];
}

const SEE = 'check /health/ready and the log';
const OF_PARTS: Readonly<Record<string, string | undefined>> = {
  'event store': REMEDIES.get('StoreUnavailable'),
  broker: REMEDIES.get('BrokerUnavailable'),
  accounts: 'see AccountUnreadable in docs/operations.md, and run dead-letters replay afterwards',
  partitions: MEND_THE_LOG,
  'consumer groups': OWN_GROUP,
  topics: `raise max.message.bytes of the topic to ${ENOUGH_BYTES}, grant the right that it names, or set the clock`,
};

/** The code of the error; null: a service could listen there. */
function whyNotListening(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown'));
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Null without a response of ours. */
async function ask(host: string, port: number, path: string): Promise<Answer | null> {
  const authority = host.includes(':') ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${authority}:${port}${path}`, {
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      redirect: 'manual',
    });
    const body = (await response.json()) as Answer['body'] | null;
    return body && { status: response.status, body };
  } catch {
    return null;
  }
}

const KEYS_WITHIN_MS = 10_000;

export function issuerChecks({ AUTH_JWKS_URL: url }: Config): Check[] {
  return url === null ? [] : [{ name: 'AUTH_JWKS_URL', run: () => issuer(url) }];
}

async function issuer(url: string): Promise<readonly Finding[]> {
  try {
    const { keys } = (await fetchKeySet(url, AbortSignal.timeout(KEYS_WITHIN_MS))).jwks();
    return [ok(`the issuer has ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}`)];
  } catch (error) {
    return [fail((error as Error).message, 'set AUTH_JWKS_URL to the JWKS of the issuer, and check the network')];
  }
}
