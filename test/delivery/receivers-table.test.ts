/** The table in docs/receivers.md: each row's receivers, and what the account sees of them. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type AttemptResult, createAttempt } from '../../src/delivery/attempt/attempt.js';
import { FAILURE_REASONS } from '../../src/endpoints/failure.js';
import { shownFailure } from '../../src/http/shown-failure.js';
import { patience } from '../runner/patience.js';
import { AttemptFixture, LONG, requestTo } from '../support/attempt-fixture.js';
import { ODD_RECEIVERS, type OddReceiver, oddReceivers } from '../support/odd-receivers.js';

const HEAD = '| what your receiver does | what the account sees | what to do |\n|---|---|---|\n';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

const [, table = ''] = readFileSync('docs/receivers.md', 'utf8').split(HEAD);
const [lines = ''] = table.split('\n\n');
const rows = lines.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));

describe.each(rows)('%sa receiver that %s', (_, does = '', sees = '', toDo = '') => {
  test(`is shown as ${sees}`, async () => {
    const shown: Record<string, string> = {};
    const receivers = await oddReceivers(does, fixture);
    await Promise.all(receivers.map(async (one) => (shown[one.name] = shownAs(await attempted(one)))));
    expect(shown).toEqual(Object.fromEntries(receivers.map(({ name }) => [name, sees])));
    expect(receivers).not.toEqual([]);
    expect(toDo).not.toBe('');
  });
});

test('each receiver of this test has its row', () => {
  expect(rows.map(([, does]) => does)).toEqual(Object.keys(ODD_RECEIVERS));
});

test('each reason has a row', () => {
  const reasons = rows.map(([, , sees = '']) => /`reason` `([\w-]+)`/.exec(sees)?.[1]).filter(Boolean);
  expect(new Set(reasons)).toEqual(new Set(Object.keys(FAILURE_REASONS)));
});

async function attempted({ url, agent, timeoutMs, body }: OddReceiver): Promise<AttemptResult> {
  const common = { agent: await fixture.agent(agent), now: Date.now, userAgent: 'test/1' };
  return createAttempt({ ...common, timeoutMs: timeoutMs ? timeoutMs * patience() : LONG })({
    ...requestTo(url),
    ...(body && { body }),
  });
}

function shownAs(result: AttemptResult): string {
  const { kind, status } = result;
  if (result.error === null) return `${WORDS[kind]}, \`status\` \`${status}\``;
  const { error, reason } = shownFailure(result);
  return `${WORDS[kind]}, \`error\` \`${error}\`${reason === null ? '' : `, \`reason\` \`${reason}\``}`;
}

const WORDS = { delivered: 'delivered', gone: 'deactivated', retryable: 'retried', interrupted: 'nothing' };
