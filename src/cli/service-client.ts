/** Calls a running service over HTTP, with got: any of its paths, or the REST API with an account's access token. */
import { got, RequestError, type Response } from 'got';
import { trimTrailingSlashes } from '../host/trailing-slashes.js';
import type { Config } from '../settings/read-config.js';
import { option, type Running } from './command.js';
import { CommandFailed, localUrl, pipedSecret } from './command-io.js';

const TIMEOUT_MS = 15_000;

export const URL_OPTION = () => option('--url <url>', 'URL of the service (default: from HOST and PORT)');

interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly form?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** With null, no answer. */
const PASSING: readonly (number | null)[] = [null, 408, 429, 500, 502, 503, 504];

export class RequestFailed extends CommandFailed {
  constructor(
    message: string,
    /** Null: there was no answer. */
    readonly status: number | null,
    readonly retryAfterSeconds = 1,
  ) {
    super(message);
  }

  /** The same request may get another answer later. */
  get passes(): boolean {
    return PASSING.includes(this.status);
  }
}

/** The body of a 2xx response. @throws RequestFailed with the service's message, or because of no response */
export async function ask<T>(base: string, { path, ...request }: ServiceRequest): Promise<T> {
  const response = await send(base, path, request);
  const body = parsed(response.body);
  if (response.statusCode >= 200 && response.statusCode < 300 && body) return body as T;
  const retryAfter = Number(response.headers['retry-after']) || undefined;
  throw new RequestFailed(`${response.statusCode}: ${said(body)}`, response.statusCode, retryAfter);
}

export function serviceUrl(given: string | undefined, config: () => Config): string {
  if (given !== undefined && !/^https?:\/\//i.test(given))
    throw new CommandFailed('--url must begin with http:// or https://');
  if (given !== undefined) return trimTrailingSlashes(given);
  const { HOST, PORT } = config();
  return localUrl(HOST, PORT);
}

async function send(base: string, path: string, request: Omit<ServiceRequest, 'path'>): Promise<Response<string>> {
  try {
    return await got(`${base}${path}`, {
      ...request,
      responseType: 'text',
      timeout: { request: TIMEOUT_MS },
      retry: { limit: 0 },
      throwHttpErrors: false,
      followRedirect: false,
    });
  } catch (error) {
    const code = error instanceof RequestError ? error.code : 'ERR_INVALID_URL';
    const where = base.replace(/\/\/[^/?#]*@/, '//'); // without a user and password
    throw new RequestFailed(`no service answers at ${where} (${code}): start one with serve, or pass --url`, null);
  }
}

function parsed(text: string): object | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' ? body : null;
  } catch {
    return null;
  }
}

/** The service's own errors and those of OAuth. */
function said(body: object | null): string {
  const { message, error, error_description: description } = (body ?? {}) as Record<string, unknown>;
  return (
    [message, error, description].filter((text) => typeof text === 'string').join(': ') ||
    'the response is not from this service'
  );
}

export interface ClientOptions {
  readonly token?: string;
  readonly url?: string;
}

export const CLIENT_OPTIONS = () => [
  option('--token <token>', 'access token (default: read from stdin)'),
  URL_OPTION(),
];

type AccountRequest = Pick<ServiceRequest, 'method' | 'path' | 'json'>;
type AccountCall = <T>(request: AccountRequest) => Promise<T>;

/** @throws CommandFailed without a token */
export async function accountClient({ io, options }: Running<ClientOptions>): Promise<AccountCall> {
  const token = options.token ?? (await pipedSecret(io));
  if (!token) throw new CommandFailed('no access token: pass --token, or pipe one to stdin');
  const base = serviceUrl(options.url, io.config);
  return (request) => ask(base, { ...request, headers: { authorization: `Bearer ${token}` } });
}

export async function callOnce(running: Running<ClientOptions>, request: AccountRequest): Promise<void> {
  const call = await accountClient(running);
  const body = await call<{ message: string }>(request);
  await running.print(body, body.message);
}
