/** The sentences that the page knows are those that the service says. */
import { readFileSync } from 'node:fs';
import { type Refusal, refusalIn } from '../../src/console/format/refusals.js';
import { refusals as english } from '../../src/console/texts/refusals-en.js';
import { refusals as portuguese } from '../../src/console/texts/refusals-pt-br.js';
import { parseEndpoint } from '../../src/endpoints/endpoint-url.js';
import { badRequest, fieldError, notNow } from '../../src/http/api-error.js';
import { mustBeDone } from '../../src/http/sessions/credential-decision.js';
import { mustBeAccepted } from '../../src/http/webhooks/webhook-command.js';
import { StoreUnavailable } from '../../src/ports/event-store.js';
import { TooManyWaiting } from '../../src/webhooks/account-turns.js';
import { headerProblems } from '../../src/webhooks/limits.js';

const RULES = { allowedPorts: [{ from: 443, to: 443 }], allowPrivate: false };

function ofUrl(url: string): string {
  const parsed = parseEndpoint(url, RULES);
  return parsed.ok ? 'it is taken' : parsed.message;
}

function ofHeaders(...headers: readonly { readonly key: string; readonly value: string }[]): string {
  const problems = headerProblems(headers).map(({ index, part, message }) =>
    fieldError(`headers[${index}].${part}`, message),
  );
  return badRequest(problems).message;
}

function thrown(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing is thrown';
}

const decided = (kind: string) => thrown(() => mustBeAccepted({ kind, retryAfterMs: 1, webhookIds: [1, 2] } as never));

/** A sentence that only a whole request brings about: as it stands in the source, with 3 for each placeholder. */
function inSource(file: string, sentence: string): string {
  const text = readFileSync(new URL(`../../src/http/${file}`, import.meta.url), 'utf8');
  return text.replace(/\$\{[^}]*\}/g, '3').includes(sentence) ? sentence : `${file} does not say ${sentence}`;
}

const SAID: Readonly<Record<Refusal, readonly string[]>> = {
  urlNotHttps: [ofUrl('http://a.com'), ofUrl('')],
  urlCharacters: [ofUrl('https://a.com/ b'), ofUrl('https://a.com/\u202e')],
  urlTooLong: [ofUrl(`https://a.com/${'a'.repeat(3_000)}`)],
  urlFragment: [ofUrl('https://a.com/#b')],
  urlUser: [ofUrl('https://a:b@a.com/')],
  urlInvalid: [ofUrl('https://[a/')],
  urlPort: [ofUrl('https://a.com:80')],
  hostAddress: [ofUrl('https://192.0.2.1/')],
  hostReserved: [ofUrl('https://a.local/')],
  hostShort: [ofUrl('https://intranet/')],
  hostInvalid: [ofUrl('https://a.com./'), ofUrl('https://a%41.com/'), ofUrl(`https://${'a'.repeat(64)}.com/`)],
  headerName: [ofHeaders({ key: 'a b', value: '' })],
  headerOwn: [ofHeaders({ key: 'content-type', value: '' })],
  headerRepeated: [ofHeaders({ key: 'a', value: '' }, { key: 'A', value: '' })],
  headerTooLong: [ofHeaders({ key: 'a'.repeat(99), value: '' }), ofHeaders({ key: 'a', value: 'a'.repeat(9_999) })],
  headerValue: [ofHeaders({ key: 'a', value: 'ã' })],
  urlTaken: [decided('url-taken')],
  typeFull: [
    inSource('webhooks/register-webhook.ts', 'already has 3 active webhooks'),
    inSource('webhooks/change-webhook.ts', 'already has 3 active webhooks'),
  ],
  accountFull: [decided('account-full')],
  accountTooLarge: [decided('account-too-large')],
  webhookInactive: [
    decided('webhook-inactive'),
    inSource('deliveries/resend-delivery.ts', 'the webhook of this delivery is inactive or was removed'),
  ],
  recoveryRunning: [decided('recovery-running')],
  untilBeforeSince: [fieldError('until', inSource('recoveries/start-recovery.ts', 'must be later than since')).message],
  payloadGone: [inSource('deliveries/resend-delivery.ts', 'the payload of this delivery is no longer kept')],
  deliveryTooOften: [inSource('deliveries/resend-delivery.ts', 'this delivery was sent again 3 times')],
  notFound: [
    decided('webhook-not-found'),
    decided('recovery-not-found'),
    thrown(() => mustBeDone({ kind: 'session-not-found' } as never)),
    inSource('deliveries/delivery-page.ts', 'delivery not found'),
  ],
  testRunning: [inSource('webhooks/test-webhook.ts', 'another test is in progress')],
  testInterrupted: [inSource('webhooks/test-webhook.ts', 'the service interrupted the test')],
  tooManySecrets: [thrown(() => mustBeDone({ kind: 'too-many-secrets' } as never))],
  tooManyRequests: [
    notNow(new TooManyWaiting())?.message ?? '',
    inSource('rate-limit.ts', 'too many requests from this account'),
    inSource('rate-limit.ts', 'the reads of this account cost too much'),
    inSource('byte-limits.ts', 'too many responses are waiting'),
  ],
  tooManyChanges: [decided('over-budget')],
  tooMuchSent: [inSource('deliveries/resend-delivery.ts', 'this account had too much sent again')],
  unavailable: [
    notNow(new StoreUnavailable('away'))?.message ?? '',
    inSource('read-answer.ts', 'the deliveries are not readable now'),
  ],
  noRight: [inSource('tokens/authenticate.ts', 'this session has not the right 3')],
};

/** Texts that name what was asked for. */
const named = Object.fromEntries(
  Object.keys(SAID).map((refusal) => [refusal, (captured: string) => `${refusal} ${captured}`]),
) as typeof english;

const rows = Object.entries(SAID).flatMap(([refusal, sentences]) => sentences.map((said) => [refusal, said] as const));

it.each(rows)('%s is "%s"', (refusal, sentence) => {
  expect(refusalIn(named, sentence).split(' ')[0]).toBe(refusal);
  expect(refusalIn(english, sentence)).not.toBe(sentence);
  expect(refusalIn(portuguese, sentence)).not.toBe(sentence);
});

it('has the number and the name of a sentence', () => {
  expect(refusalIn(portuguese, ofUrl('https://a.com:80'))).toBe('A porta 80 não é permitida.');
  expect(refusalIn(english, ofUrl('https://a.local/'))).toBe('The host must be public: “local” is a reserved name.');
});

it('leaves a sentence that the page does not know as it is', () => {
  expect(refusalIn(portuguese, 'limit must be a whole number from 1 to 200.')).toBe(
    'limit must be a whole number from 1 to 200.',
  );
});
