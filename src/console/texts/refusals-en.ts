/** Refusals of the API, in English, by code. */
type RefusalText = (params: Readonly<Record<string, unknown>>) => string;
export type RefusalTexts = Readonly<Record<keyof typeof refusals, RefusalText>>;

const hostInvalid = () => 'The host is not a valid domain name.';
const notFound = () => 'It is no longer there.';
const tooManyRequests = () => 'The account makes too many requests. Try again in a moment.';
const unavailable = () => 'The service is not available right now. Try again in a moment.';

export const refusals = {
  'url-not-https': () => 'The URL must begin with https:// and a host.',
  'url-characters': () => 'The URL contains spaces, control characters or backslashes.',
  'url-too-long': ({ limit }) => `The URL may have at most ${limit} characters.`,
  'url-fragment': () => 'The URL must not have a fragment (#).',
  'url-user': () => 'The URL must not contain a user name or a password. Use a header.',
  'url-invalid': () => 'This is not a valid URL.',
  'port-refused': ({ port }) => `Port ${port} is not allowed.`,
  'host-address': () => 'The host must be a public name, not an IP address.',
  'host-denied': () => 'The host must be a public name, not an IP address.',
  'host-reserved': ({ suffix }) => `The host must be public: “${suffix}” is a reserved name.`,
  'host-incomplete': () => 'The host must be a full domain name.',
  'host-characters': hostInvalid,
  'host-labels': hostInvalid,
  'host-trailing-dot': hostInvalid,
  'host-too-long': hostInvalid,
  'header-name': () => 'This is not the name of an HTTP header.',
  'header-blocked': () => 'The service sets this header.',
  'header-repeated': () => 'This header is there twice.',
  'too-long': ({ limit }) => `At most ${limit} characters.`,
  'header-value': () => 'Only visible ASCII characters, with spaces or tabs between them.',
  'url-taken': () => 'Another webhook of this type has this URL.',
  'limit-reached': ({ limit }) =>
    `${limit} URLs of this type are active, which is the limit. Pause or remove one of them first.`,
  'account-full': ({ limit }) => `The account has ${limit} webhooks, which is the limit. Remove one of them first.`,
  'account-too-large': () => 'The webhooks of the account would be too large. Shorten headers or remove a webhook.',
  'webhook-inactive': () => 'The webhook is off or was removed. Activate it first.',
  'recovery-running': () => 'This webhook is being recovered already. Wait for the end, or stop the recovery.',
  'not-later-than': () => 'The end of the period must be later than its beginning.',
  'payload-gone': () => 'The payload of this delivery is no longer kept, so it cannot be sent again.',
  'sent-too-often': () => 'The delivery was sent again as often as may be.',
  'webhook-not-found': notFound,
  'delivery-not-found': notFound,
  'recovery-not-found': notFound,
  'session-not-found': notFound,
  'test-running': () => 'Another test is running. Try again when it has ended.',
  'test-interrupted': () => 'The service interrupted the test. Try again.',
  'too-many-secrets': () => 'As many secrets as may be sign already. Wait until the first of them ends.',
  'too-many-requests': tooManyRequests,
  'too-many-waiting': tooManyRequests,
  'reads-too-costly': tooManyRequests,
  'too-many-unread': tooManyRequests,
  'over-budget': () => 'The account changes too often. Try again later.',
  'too-much-sent-again': () => 'Too much was sent again or cancelled. Try again later.',
  unavailable: unavailable,
  'deliveries-unreadable': unavailable,
  'right-missing': () => 'This session lacks the right for it.',
} as const satisfies Readonly<Record<string, RefusalText>>;
