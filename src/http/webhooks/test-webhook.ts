/** Sends a test event to a webhook, active or not, or to the notice URL, and returns the result. */
import type { Context } from 'koa';
import { CAUSES } from '../../endpoints/attempt-causes.js';
import { type FailureReason, shownFailure } from '../../endpoints/failure.js';
import type { Logger } from '../../observability/logger.js';
import type { TestOutcome, TestResult } from '../../ports/test-outcome.js';
import { ApiError, registered, retryAfter } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { BODY_LIMIT, readBody } from '../body.js';
import { operation, route, WEBHOOK_ID } from '../operation.js';
import { aboutRequest, callerOf, may, traceOf } from '../request-context.js';
import { flag, object, text, textOrNull } from '../schema.js';
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
  security: 'bearer',
  right: 'configure',
  rateLimit: 'tests',
} as const;

const ANSWERS = {
  200: {
    description: 'The test was sent. `success` says whether the receiver accepted the event.',
    schema: object('WebhookTest', 'The outcome of a test.', {
      success: flag('Whether the receiver answered 2xx in time.'),
      message: text('The human-readable outcome.'),
      result: RESULT,
    }),
  },
  413: 'The body exceeds 65,536 bytes.',
  429: 'The account sent too many tests, or another test is in progress. Retry-After says when to try again.',
  503: 'The service interrupted the test, because it is stopping or stood still, or the issuer keys are unavailable. The request can be retried safely.',
};

const TEST_WEBHOOK = operation({
  id: 'testWebhook',
  ...TEST,
  path: '/api/webhooks/{id}/test',
  summary: 'Send a test event',
  description:
    'Sends one signed test event to the URL of a webhook, active or not, and waits for the response. A test is never retried. An account may send 30 tests a minute, one at a time to a URL; they are sent also where deliveries wait because the URL keeps failing. The id of the event begins with `test_`, and its data is `{"test": true}`.',
  pathId: WEBHOOK_ID,
  responses: ANSWERS,
});

const TEST_NOTICES = operation({
  id: 'testNotices',
  ...TEST,
  path: '/api/notices/test',
  summary: 'Send a test notice',
  description:
    'Sends one signed notice of the type `test` to the notice URL, and waits for the response, as a test of a webhook does. Its data is `{"test": true}`.',
  responses: { ...ANSWERS, 404: 'The account is not registered, or has no notice URL.' },
});

export function testWebhook(parts: ApiParts) {
  return route(TEST_WEBHOOK, async (ctx) => {
    // A body is ignored, within the limit of the others.
    await readBody(ctx, BODY_LIMIT);
    const webhook = await ownWebhook(ctx, parts);
    const outcome = await parts.sendTest(callerOf(ctx).accountId, webhook, traceOf(ctx));
    answer(ctx, outcome, parts.logger, webhook.id);
  });
}

export function testNotices({ accounts, sendTest, logger }: ApiParts) {
  return route(TEST_NOTICES, async (ctx) => {
    await readBody(ctx, BODY_LIMIT);
    const { accountId } = callerOf(ctx);
    const { notices } = registered(await accounts.webhooksNow(accountId));
    if (!notices) throw new ApiError({ code: 'notices-not-set' });
    answer(ctx, await sendTest(accountId, { ...notices, eventType: 'test' }, traceOf(ctx)), logger);
  });
}

function answer(ctx: Context, outcome: TestOutcome, logger: Logger, webhookId?: number): void {
  switch (outcome.kind) {
    case 'sent': {
      // A receiver may echo the headers of its request: the log gets no answer.
      const { success, response, ...result } = outcome.result;
      const about = { ...aboutRequest(ctx), webhookId, deliveryId: result.id };
      logger.info({ ...about, success, ...result }, 'a test event was sent');
      const shown = shownFailure(result);
      const body = may(ctx, 'payloads') ? response : null;
      ctx.body = { success, message: messageOf(shown), result: { ...shown, response: body } };
      return;
    }
    case 'busy':
      throw new ApiError({ code: 'test-running' }, retryAfter(1_000));
    case 'interrupted':
      throw new ApiError({ code: 'test-interrupted' });
    default:
      outcome satisfies never;
  }
}

function messageOf({ status, error, reason }: Pick<TestResult, 'status' | 'error' | 'reason'>): string {
  if (error === null) return `the endpoint answered ${status}`;
  const [cause] = reason ? CAUSES.reasons[reason as FailureReason] : [''];
  return `the endpoint did not answer (${error}). ${cause}`.trimEnd();
}
