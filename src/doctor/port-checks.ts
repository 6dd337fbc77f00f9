/** Checks PORT and ADMIN_PORT: free, or in use by our own service; and what that service reports. */
import { connect, createServer } from 'node:net';
import { ENOUGH_BYTES } from '../adapters/kafka/topic-config.js';
import type { PartState } from '../observability/readiness.js';
import type { Config } from '../settings/config.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

const ANSWER_WITHIN_MS = 5_000;
/** For 0.0.0.0 and ::, the address to connect to. */
const ANY: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export function portChecks({ host, port, adminPort }: Config): Check[] {
  const at = ANY[host] ?? host;
  const usable = (of: number, isOurs: () => Promise<boolean>) => taken({ host, at, port: of }, isOurs);
  return [
    { name: 'PORT', run: () => usable(port, async () => isApi(await ask(at, port, '/openapi.json'))) },
    { name: 'ADMIN_PORT', run: () => admin(at, adminPort, usable) },
  ];
}

type Usable = (port: number, isOurs: () => Promise<boolean>) => Promise<readonly Finding[]>;

async function admin(host: string, port: number, usable: Usable): Promise<readonly Finding[]> {
  const findings = await usable(port, async () => (await ask(host, port, '/health/live'))?.body.status === 'live');
  if (port === 0 || findings[0]?.verdict !== 'ok' || (await isFree(host, port))) return findings;
  const ready = await ask(host, port, '/health/ready');
  const parts = Array.isArray(ready?.body.parts) ? (ready.body.parts as PartState[]) : [];
  const besides = parts.filter((one) => !one.ready && !one.needed);
  const all = [...findings, ...besides.map((one) => warn(said(one), TODO[one.part] ?? SEE))];
  if (ready?.status === 200) return [...all, ok('the service is ready, and its read model is up to date')];
  const late = parts.filter((one) => !one.ready && one.needed).map(said);
  return [...all, warn(`the service is not ready${late.length > 0 ? `: ${late.join('; ')}` : ''}`, SEE)];
}

const SEE = 'check /health/ready and the log';
const TODO: Readonly<Record<string, string>> = {
  topics: `raise max.message.bytes of the topic to ${ENOUGH_BYTES}, or grant the right that it names`,
};

/** In the words of the running service. */
function said({ part, why = 'not ready' }: PartState): string {
  return `${part}: ${why}`;
}

interface Address {
  /** HOST. */
  readonly host: string;
  /** To connect to. */
  readonly at: string;
  readonly port: number;
}

async function taken({ host, at, port }: Address, isOurs: () => Promise<boolean>): Promise<readonly Finding[]> {
  const used = fail(`another program uses ${port}`, 'stop it, or set another port');
  if (port === 0) return [ok('any free port is used')];
  if (await isFree(at, port)) {
    const code = await whyNotListening(host, port);
    if (code === 'EADDRINUSE') return [used];
    if (code === 'EACCES') return [fail(`no permission to use ${port}`, 'set another port')];
    if (code !== null) return [fail(`HOST ${host} is not an address of this machine (${code})`, 'correct HOST')];
    return [ok(`${port} is free: no service of these settings is running here`)];
  }
  if (await isOurs()) return [ok(`a service answers at ${port}`)];
  return [used];
}

/** The code of the error; null: a service could listen there. */
function whyNotListening(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown'));
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ANSWER_WITHIN_MS });
    const end = (free: boolean) => {
      socket.destroy();
      resolve(free);
    };
    socket.once('connect', () => end(false));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(true));
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
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  } catch {
    return null;
  }
}

function isApi(answer: Answer | null): boolean {
  const paths = answer?.body?.paths;
  return typeof paths === 'object' && paths !== null && '/api/webhooks' in paths;
}
