/** Schemas shared by several operations. Each operation's own schemas are in its file. */
import { CAUSES } from '../endpoints/attempt-causes.js';
import type { FailureReason } from '../endpoints/failure.js';
import { describeEventTypes } from '../payments/event-descriptions.js';
import {
  always,
  list,
  milliseconds,
  object,
  oneOf,
  optional,
  orNull,
  type Schema,
  type Static,
  text,
  textOrNull,
  texts,
  time,
  timeOrNull,
  whole,
} from '../schema.js';
import { EVENT_TYPES } from '../webhooks/limits.js';
import type { Param } from './error-codes.js';

export const EVENT_TYPE = oneOf(EVENT_TYPES, `The type of a payment event. ${describeEventTypes()}`, {
  title: 'EventType',
});

export const TIME: Schema<string> = { type: 'string', format: 'date-time' };

export const PUBLISHED_AT = timeOrNull('When the payment event was published. Null if its time is not valid.');

/** @param ms since the epoch */
export function timeText<T extends number | null>(ms: T): string | (null & T) {
  return ms === null ? (null as null & T) : new Date(ms).toISOString();
}

export const DONE = {
  success: always(true, 'Always true.'),
  message: text('A human-readable summary of what was done.'),
};

export const SUCCESS = object('Success', 'The response to a command that succeeded.', DONE);

const CODE = text('A stable code of the problem. docs/api.md lists all of them; later releases may have more.', {
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  examples: ['invalid-fields', 'webhook-not-found'],
});

const PARAMS = optional<Readonly<Record<string, Param>>>({
  type: 'object',
  additionalProperties: { type: ['string', 'integer', 'array'], items: { type: ['string', 'integer'] } },
  description: 'What a text about the problem needs, such as a limit. Absent if it needs nothing.',
});

const FIELD_ERROR = object('FieldError', 'A problem with one field of the request.', {
  field: text('The invalid field of the body, query parameter or header.', {
    examples: ['url', 'headers[0].key', 'isActive', 'Idempotency-Key'],
  }),
  message: text('The problem with the field, as one sentence that names the field.'),
  code: CODE,
  params: PARAMS,
});

export const ERROR = object('Error', 'The response to a request that was refused or failed.', {
  success: always(false, 'Always false.'),
  message: text('The problem in words. It names the invalid fields. It may change; `code` does not.'),
  code: CODE,
  params: PARAMS,
  errors: optional(
    list(
      'One entry for each problem with a field; URLs and headers are judged once all other fields are valid. Absent if the error is not about fields.',
      FIELD_ERROR,
    ),
  ),
});

/** Those of a receiver. @param sent with what, as `event` */
export function headersOf(sent: string) {
  return texts(
    `The headers that are sent with each ${sent}, by name. Empty if there are none. A session without the right \`configure\` gets each value as an empty text.`,
  );
}

const REASONS = Object.entries(CAUSES.reasons)
  .map(([reason, [sentence]]) => `\`${reason}\`: ${sentence}`)
  .join(' ');

/** How much of a receiver's answer is shown, wherever it is. */
export const RESPONSE_TEXT =
  'the first 1,024 bytes of the body of the response, as they were sent; content codings are not undone, and bytes that are not UTF-8 are replaced by U+FFFD.';

/** The result of one request to a receiver. `reason` stands beside an error only. */
export const EXCHANGE = {
  status: orNull(whole('The HTTP status of the response, whatever happened to its body. Null if none came.')),
  error: textOrNull(
    'A short code that says why no status came, such as `timeout`, `tls` or `connection-refused`; `host` if the host name does not resolve or resolves to a non-public address. Null if a status came.',
  ),
  reason: optional(
    orNull(
      oneOf(
        Object.keys(CAUSES.reasons) as FailureReason[],
        `Beside an error: its cause. Null if nothing more is known or may be said. ${REASONS}`,
      ),
    ),
  ),
  expiredCertificate: optional(
    object(
      'ExpiredCertificate',
      'Only for the reason `certificate-expired`: the certificate of the chain that has expired.',
      {
        name: textOrNull(
          'The common name of its subject, or else of its issuer, at most 64 characters. Null if it has neither.',
        ),
        expiredAt: timeOrNull(
          'When it expired. Null if the receiver did not send it: then it is the authority at the top of the chain.',
        ),
      },
    ),
  ),
  durationMs: milliseconds('The time from the name lookup to the status and headers, in milliseconds.'),
};

export const LAST_FAILURE = orNull(
  object('LastFailure', 'The last failed attempt. Null if there is none.', {
    at: time('When the request began.'),
    status: EXCHANGE.status,
    error: EXCHANGE.error,
  }),
);

export const CLIENT_CERTIFICATE = object('ClientCertificate', 'Null: the service shows none.', {
  subject: text('Its distinguished name, one attribute a line.'),
  issuer: text('That of its issuer.'),
  fingerprint: text('SHA-256 of the certificate, in hexadecimal with colons.'),
  validFrom: time('From when it is valid.'),
  validTo: time('Until when it is valid.'),
  pem: text('The certificate and its chain, in PEM.'),
});
export type ClientCertificate = Static<typeof CLIENT_CERTIFICATE>;
