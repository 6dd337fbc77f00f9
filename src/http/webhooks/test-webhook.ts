/** Sends a test event to a webhook, active or not, or to the notice URL, and returns the result. */
import type { Context } from 'koa';
import { CAUSES } from '../../endpoints/attempt-causes.js';
import { shownFailure } from '../../endpoints/failure.js';
import type { Logger } from '../../observability/logger.js';
import type { ExpiredCertificate } from '../../ports/expired-certificate.js';
import type { TestOutcome, TestResult } from '../../ports/test-outcome.js';
import { flag, object, text, textOrNull } from '../../schema.js';
import { ApiError, registered, retryAfter } from '../api-error.js';
import { write } from '../operation.js';
import { aboutRequest, may, traceOf } from '../request-context.js';
import { EXCHANGE, RESPONSE_TEXT } from '../shared-schemas.js';
import { ownWebhook } from './webhook-command.js';

const RESULT = object('TestResult', 'The request to the receiver.', {
  id: text('The id of the test event, which the receiver gets as `webhook-id`.'),
  ...EXCHANGE,
  response: textOrNull(
    `What the receiver answered: ${RESPONSE_TEXT} Null if there was no body, or if the caller may not see payloads.`,
  ),
});

const TEST = {
  method: 'post',
  rateLimit: 'tests',
  returns: object('WebhookTest', 'The test was sent. `success` says whether the receiver accepted the event.', {
    success: flag('Whether the receiver answered 2xx in time.'),
    message: text('The human-readable outcome.'),
    result: RESULT,
  }),
} as const;

export const testWebhook = write({
  id: 'testWebhook',
  ...TEST,
  path: '/api/webhooks/{id}/test',
  description:
    'Sends one signed test event to the URL of a webhook, active or not, and waits for the response. A test is never retried. A user may send 30 tests a minute, an account 60, one at a time to a URL; they are sent also where deliveries wait because the URL keeps failing. The id of the event begins with `test_`, and its data is `{"test": true}`.',
}).answer(async (parts, { ctx, accountId }) => {
  const webhook = await ownWebhook(ctx, parts);
  return answer(ctx, await parts.sendTest(accountId, webhook, traceOf(ctx)), parts.logger, webhook.id);
});

export const testNotices = write({
  id: 'testNotices',
  ...TEST,
  path: '/api/notices/test',
  description:
    'Sends one signed notice of the type `test` to the notice URL, and waits for the response, as a test of a webhook does. Its data is `{"test": true}`.',
  refusals: { 404: 'The account is not registered, or has no notice URL.' },
}).answer(async ({ accounts, sendTest, logger }, { ctx, accountId }) => {
  const { notices } = registered(await accounts.webhooksNow(accountId));
  if (!notices) throw new ApiError({ code: 'notices-not-set' });
  return answer(ctx, await sendTest(accountId, { ...notices, eventType: 'test' }, traceOf(ctx)), logger);
});

/** @throws ApiError 429, 503 if it was not sent */
function answer(ctx: Context, outcome: TestOutcome, logger: Logger, webhookId?: number) {
  if (outcome.kind === 'busy') throw new ApiError({ code: 'test-running' }, retryAfter(1_000));
  if (outcome.kind === 'interrupted') throw new ApiError({ code: 'test-interrupted' }, retryAfter(1_000));
  // A receiver may echo the headers of its request: the log gets no answer.
  const { success, response, ...result } = outcome.result;
  logger.info({ ...aboutRequest(ctx), webhookId, deliveryId: result.id, success, ...result }, 'a test event was sent');
  const shown = shownFailure(result);
  return { success, message: toMessage(shown), result: { ...shown, response: may(ctx, 'payloads') ? response : null } };
}

const CAUSES_BY_CODE: Readonly<Record<string, readonly [sentence: string, remedy: string]>> = {
  ...CAUSES.errors,
  ...CAUSES.reasons,
};

type ShownResult = Pick<TestResult, 'status' | 'error' | 'reason' | 'expiredCertificate'>;

/** With the reason, if it is known, as otherwise only the result's codes would state it. */
function toMessage({ status, error, reason, expiredCertificate: expired }: ShownResult): string {
  if (error === null) return `the endpoint answered ${status}`;
  const [sentence] = CAUSES_BY_CODE[reason ?? error] ?? [''];
  const certificate = expired ? ` ${expiredCertificateText(expired)}` : '';
  return `the endpoint did not answer (${error}). ${sentence}`.trimEnd() + certificate;
}

function expiredCertificateText({ name, expiredAt }: ExpiredCertificate): string {
  const expiry = expiredAt === null ? '' : `, at ${expiredAt}`;
  return `Expired: ${name ?? 'a certificate without a name'}${expiry}.`;
}
