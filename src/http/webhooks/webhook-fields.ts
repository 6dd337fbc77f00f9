/** A URL to send to, with its own headers, as requests give it, of a webhook and of notices; and a webhook as its account sees it. */
import type { Context } from 'koa';
import { MAX_URL_CHARACTERS, type ParsedEndpoint } from '../../endpoints/endpoint-url.js';
import { flag, list, object, optional, text, time, url, whole } from '../../schema.js';
import { headerPlace, type Sealing } from '../../secrets/sealing.js';
import type { RegisterWebhook } from '../../webhooks/decide.js';
import type { SealedHeader } from '../../webhooks/events.js';
import {
  type GivenHeader,
  HEADER_NAME,
  HEADER_VALUE,
  headerProblems,
  MAX_HEADER_NAME_LENGTH,
  MAX_HEADER_VALUE_LENGTH,
  MAX_HEADERS,
} from '../../webhooks/limits.js';
import type { Webhook } from '../../webhooks/state.js';
import { badRequest, fieldError } from '../api-error.js';
import { may } from '../request-context.js';
import { EVENT_TYPE, headersOf } from '../shared-schemas.js';

const HEADER = object('WebhookHeader', 'A header that is sent with each event.', {
  key: text(
    "The header's name (an RFC 9110 token). Names are case-insensitive, and each may occur once. Headers that HTTP or the service sets are refused: `content-type`, `webhook-*` and the like.",
    { pattern: HEADER_NAME.source, maxLength: MAX_HEADER_NAME_LENGTH, examples: ['X-Api-Key'] },
  ),
  value: text("The header's value: visible ASCII characters, with spaces or tabs only between them. It may be empty.", {
    pattern: HEADER_VALUE.source,
    maxLength: MAX_HEADER_VALUE_LENGTH,
    examples: ['k-123'],
  }),
});

export const ENDPOINT_FIELDS = {
  url: url(
    'The absolute https URL of the receiver. The host is a public domain name, and the port is 443 or 8443 unless the operator allows others. User name, password and fragment are refused. Two spellings are the same URL if they are normalised to the same one by the [WHATWG URL standard](https://url.spec.whatwg.org/): the host in lower case and in ASCII (Punycode), port 443 omitted, `.` and `..` segments resolved (also as `%2e`), and spaces, quotes and non-ASCII characters in path and query percent-encoded. Requests go to the normalised URL; the characters `{ } | ^ [ ]`, backticks, and percent signs that encode nothing are percent-encoded there too.',
    {
      pattern: '^[Hh][Tt][Tt][Pp][Ss]://',
      maxLength: MAX_URL_CHARACTERS,
      examples: ['https://shop.example.com/payments'],
    },
  ),
  headers: list('Headers to send with each event. They replace all headers of an earlier registration.', HEADER, {
    maxItems: MAX_HEADERS,
  }),
};

interface GivenEndpoint {
  readonly url: string;
  readonly headers?: readonly GivenHeader[];
}

export interface EndpointParts {
  readonly sealing: Sealing;
  /** Checks the text only: names are resolved at each connection, so a response does not reveal where they lead. */
  readonly checkEndpoint: (url: string) => ParsedEndpoint;
}

type Sealed = Pick<RegisterWebhook, 'url' | 'endpoint' | 'headers' | 'isHeldBy'>;

/** As commands take it. @throws ApiError 400 that names the URL if it is refused, and every wrong header */
export function sealedEndpoint(parts: EndpointParts, accountId: number, given: GivenEndpoint): Sealed {
  return sealedChange(parts, accountId, { ...given, headers: given.headers ?? [] }) as Sealed;
}

/** What is not given is absent. @throws as sealedEndpoint */
export function sealedChange(
  { checkEndpoint, sealing }: EndpointParts,
  accountId: number,
  { url: given, headers }: Partial<GivenEndpoint>,
): Partial<Sealed> {
  const endpoint = given === undefined ? null : checkEndpoint(given);
  const problems = headerProblems(headers ?? []).map(({ index, part, problem }) =>
    fieldError(`headers[${index}].${part}`, problem),
  );
  if (endpoint?.ok === false) problems.unshift(fieldError('url', endpoint.problem));
  if (problems.length > 0) throw badRequest(problems);
  return {
    ...(given !== undefined && endpoint?.ok && { url: given, endpoint: endpoint.href }),
    ...(headers && sealedHeaders(sealing, accountId, headers)),
  };
}

function sealedHeaders({ seal, holds }: Sealing, accountId: number, given: readonly GivenHeader[]) {
  const place = (name: string) => headerPlace(accountId, name);
  const headers = given.map(({ key, value }) => ({ key, sealed: seal(value, place(key)) }));
  const isHeldBy: RegisterWebhook['isHeldBy'] = (kept) =>
    kept.length === given.length &&
    kept.every(({ key, sealed }, index) => {
      const header = given[index];
      return header?.key === key && holds(sealed, header.value, place(key));
    });
  return { headers, isHeldBy };
}

export const WEBHOOK = object('Webhook', 'A URL that receives the payment events of one type.', {
  id: whole('The id of the webhook, unique in the service. It never changes.'),
  type: EVENT_TYPE,
  url: url('The URL, exactly as it was last given.'),
  headers: headersOf('event'),
  isActive: flag('Whether events are sent to the URL.'),
  createdAt: time('When the webhook was first registered.'),
  movedAt: optional(time('When its URL was last changed to another one. Absent if it never was.')),
});

const HIDDEN = { open: () => '' };

/** Values of headers are credentials of receivers: a session that can't set them gets empty ones. */
export function valuesFor(ctx: Pick<Context, 'state'>, values: Pick<Sealing, 'open'>): Pick<Sealing, 'open'> {
  return may(ctx, 'configure') ? values : HIDDEN;
}

/** @throws CannotOpen */
export function shownWebhook(accountId: number, webhook: Webhook, sealing: Pick<Sealing, 'open'>) {
  const { id, eventType, isActive, createdAt, movedAt } = webhook;
  const headers = openedHeaders(accountId, webhook.headers, sealing);
  const shown = { id, type: eventType, url: webhook.url, headers, isActive, createdAt };
  return movedAt === undefined ? shown : { ...shown, movedAt };
}

/** By name, as they were given. @throws CannotOpen */
export function openedHeaders(accountId: number, headers: readonly SealedHeader[], { open }: Pick<Sealing, 'open'>) {
  return byName(headers.map(({ key, sealed }) => [key, open(sealed, headerPlace(accountId, key))]));
}

export function byName(headers: Iterable<readonly [name: string, value: string]>): Readonly<Record<string, string>> {
  // Without a prototype, __proto__ is an ordinary name.
  const named: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) named[name] = value;
  return named;
}
