/**
 * What the API refuses and how it fails: the message, remedy and HTTP status of each code. Codes are stable: clients compare
 * them, and docs/api.md lists them. `{name}` stands for a parameter.
 */

export const ERRORS = {
  'invalid-fields': ['{why}', 'Correct each field that `errors` names.', 400],
  'invalid-events': ['nothing was published: see errors', 'Correct each event in `errors`, and send all again.', 400],
  'malformed-request': ['bad request', 'Send well-formed HTTP/1.1.', 400],
  'body-not-json': ['the body is not valid JSON', 'Send JSON in UTF-8.', 400],
  'body-not-object': ['the body must be a JSON object', 'Send an object.', 400],
  'body-not-array': ['the body is not a JSON array', 'Send a batch of CloudEvents as an array.', 400],
  'nothing-to-change': ['the body has none of url, headers and isActive', 'Give at least one of them.', 400],
  'token-missing': ['a Bearer token is required', 'Send `Authorization: Bearer <token>`.', 401],
  'token-invalid': ['the Bearer token is not valid: {why}', 'Get another token.', 401],
  'session-ended': ['the session that x-console names has ended, or there is none', 'Open another session.', 401],
  'publisher-token-required': ['this needs the token of a publisher', 'Use the token of a publisher.', 403],
  'account-token-required': ['the token of a publisher can only publish payment events', "Use an account's.", 403],
  'right-missing': ['this session has not the right {right}', 'Open a session with the right.', 403],
  'not-found': ['not found', 'Use a path of this document.', 404],
  'account-not-found': ['account not found', 'The operator registers the account.', 404],
  'webhook-not-found': ['webhook not found', 'List the webhooks: it was removed, or is not of this account.', 404],
  'delivery-not-found': ['delivery not found', 'List the deliveries: it is unknown, or no longer kept.', 404],
  'recovery-not-found': ['recovery not found', "List the recoveries: a webhook's last one is kept.", 404],
  'notices-not-set': ['the account has no notice URL', 'Set one.', 404],
  'session-not-found': ['session not found', 'Nothing: the session has ended.', 404],
  'console-not-built': ['the console is not part of this installation: run make build', 'The operator builds it.', 404],
  'method-not-allowed': ['use {allowed}', 'Use a method that `Allow` lists.', 405],
  'request-timeout': ['request timeout', 'Send the request faster.', 408],
  'webhook-inactive': ['the webhook is inactive or was removed: activate it first', 'Activate the webhook.', 409],
  'recovery-running': ['being recovered: webhook {webhookIds}', 'Wait for the end of the recovery, or stop it.', 409],
  'payload-gone': ['the payload of this delivery is no longer kept', 'The payment system publishes it again.', 409],
  'sent-too-often': ['this delivery was sent again {limit} times: no more', 'Publish the event again.', 409],
  'too-many-secrets': ['{limit} signing secrets sign: wait until the first ends', 'Wait, 24 hours at most.', 409],
  'body-too-large': ['the body has more than {limit} bytes', 'Send a smaller body, or several requests.', 413],
  'too-many-events': ['the request has more than {limit} events', 'Send them in several requests.', 413],
  'unsupported-type': ['the content-type must be {allowed}', 'Set `Content-Type`.', 415],
  'unsupported-encoding': ['the content-encoding is not supported', 'Send the body without `Content-Encoding`.', 415],
  'idempotency-key-used': ['the Idempotency-Key was used for another request within 24 h', 'Use another key.', 422],
  'too-many-requests': ['too many requests from this account; Retry-After says when to try again', 'Wait.', 429],
  'too-many-waiting': ['too many requests of this account wait; Retry-After says when to try again', 'Wait.', 429],
  'reads-too-costly': ['the reads of this account cost too much; Retry-After says when to ask again', 'Ask less.', 429],
  'over-budget': ['the account added too much to its history; Retry-After says when to ask again', 'Wait.', 429],
  'too-much-sent-again': ['too much was sent again or cancelled; Retry-After says when to try again', 'Wait.', 429],
  'test-running': ['another test is in progress; try again when it has ended', 'Wait for the other test.', 429],
  'head-too-large': ['request header fields too large', 'Send a head of at most 16,384 bytes.', 431],
  'internal-error': ['internal error', 'Send the request again; tell the operator its `X-Request-Id`.', 500],
  unavailable: ['the service is unavailable; Retry-After says when to try again', 'Wait.', 503],
  'deliveries-unreadable': ['the deliveries are not readable now; Retry-After says when to try again', 'Wait.', 503],
  'keys-unavailable': ["the keys of the token's issuer are unavailable", 'Wait; keep the token.', 503],
  'broker-unavailable': ['the broker is unavailable. {why}', 'Send the events again.', 503],
  'topic-refuses': ['the settings of the topic refuse an event. {why}', 'The operator corrects the topic.', 503],
  'clock-wrong': [
    'the clock of the service is wrong, so the topic rejects an event. {why}',
    'The operator sets it.',
    503,
  ],
  'too-many-in-progress': ['too many events are in progress; nothing was published', 'Send fewer at a time.', 503],
  'too-many-unread': ['too many responses are waiting to be read; try again', 'Read the responses.', 503],
  'test-interrupted': ['the service interrupted the test; try again', 'Send the test again.', 503],
} as const satisfies Texts;

/** Of the entries of `errors`, each about one field. */
export const FIELD_ERRORS = {
  missing: ['{field} is missing.', 'Give the field.'],
  'wrong-type': ['{field} must be of type {type}.', 'Nothing is converted, and null is not absent.'],
  'not-one-of': ['{field} must be one of {allowed}.', 'Use one of these.'],
  'out-of-range': ['{field} must be a whole number from {minimum} to {maximum}.', 'Use a number of this range.'],
  'too-many-items': ['{field} must have at most {limit} entries.', 'Give fewer.'],
  'too-few-items': ['{field} must have at least {limit} entries.', 'Give more.'],
  'repeated-items': ['{field} must not have an entry twice.', 'Give each once.'],
  'too-long': ['{field} must have at most {limit} characters.', 'Shorten it.'],
  'too-short': ['{field} must have at least {limit} characters.', 'Lengthen it, or leave it out.'],
  malformed: ['{field} must be {why}.', 'Give it once, and as the operation describes it.'],
  'not-a-time': ['{field} must be a time like 2026-11-21T09:00:00Z.', 'Use ISO 8601 with an offset.'],
  'not-later-than': ['{field} must be later than {other}.', 'Exchange them, or correct one.'],
  'too-many-steps': ['{field} must be at most {limit} steps before to.', 'Use larger steps, or a shorter period.'],
  'not-together': ['{field} must not be given together with {other}.', 'Leave one of them out.'],
  'code-refused': ['{field} is not valid, was used, or has expired.', 'Open another session: it is valid for 60 s.'],
  'not-a-payment-event': ['{event} is not a payment event: {why}.', 'Correct the event.'],
  'url-too-long': ['{field} must have at most {limit} characters, percent-encoded.', 'Shorten the URL.'],
  'url-not-https': ['{field} must begin with https:// and a host.', 'Use an https URL.'],
  'url-characters': ['{field} has spaces, backslashes, control or bidirectional characters.', 'Encode or remove them.'],
  'url-fragment': ['{field} must not have a fragment.', 'Remove # and what follows.'],
  'url-user': ['{field} must not contain a user name or a password.', 'Use a header.'],
  'url-invalid': ['{field} is not a valid URL.', 'Correct it.'],
  'port-refused': ['port {port} is not allowed in {field}.', 'Use port 443, or another that the operator allows.'],
  'host-address': ['the host of {field} must be a name, or an IP address that is allowed.', 'Use a public name.'],
  'host-invalid': ['the host of {field} must be a full, valid domain name without a dot at its end.', 'Correct it.'],
  'host-reserved': ['the host of {field} must not be a reserved name ({suffix}).', 'Use a public domain name.'],
  'header-name': ["{field} must have letters, digits and !#$%&'*+-.^_`|~ only.", 'Use a name of these characters.'],
  'header-blocked': ['{field} is a header that the service sets.', 'Use another name.'],
  'header-repeated': ['{field} is repeated (header names are case-insensitive).', 'Give each header once.'],
  'header-value': ['{field} must be visible ASCII, with spaces or tabs only inside.', 'Encode other characters.'],
  'url-taken': ['{field} is that of another webhook of the type (id {webhookId}).', 'Change that webhook instead.'],
  'limit-reached': ['{field}: the type already has {limit} active webhooks.', 'Deactivate or remove one of them.'],
  'account-full': ["{field} can't be added: the account has {limit} webhooks.", 'Remove a webhook.'],
  'account-too-large': ['{field} is too much: all webhooks would exceed 1 MiB.', 'Shorten headers, or use fewer.'],
} as const satisfies Texts;

type Texts = Readonly<Record<string, readonly [message: string, remedy: string, status?: number]>>;
type Named<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never;
/** `field` is that of the entry; `why` is a text of its own, for people only. */
type Params<Text, Name extends string = Exclude<Named<Text>, 'field'>> = [Name] extends [never]
  ? { readonly params?: never }
  : { readonly params: Readonly<Record<Name, Param>> };
type Problems<All extends Texts> = {
  [Code in keyof All & string]: { readonly code: Code } & Params<All[Code][0]>;
};

export type Param = string | number | readonly (string | number)[];
/** A code with the parameters that its message needs. Clients get those of a field. */
export type Problem = Problems<typeof ERRORS>[keyof typeof ERRORS];
export type FieldProblem = Problems<typeof FIELD_ERRORS>[keyof typeof FIELD_ERRORS];

const MESSAGES: Texts = { ...FIELD_ERRORS, ...ERRORS };

export function messageOf({ code, params }: Problem | FieldProblem, field = ''): string {
  const values: Readonly<Record<string, Param>> = { ...params, field };
  return (MESSAGES[code]?.[0] ?? code).replace(/\{(\w+)\}/g, (_, name: string) => [values[name]].flat().join(', '));
}
