/** The table in docs/receivers.md: each row's receivers, and what the account sees of them. */
import { readFileSync } from 'node:fs';
import { type AttemptResult, createAttempt } from '../../src/delivery/attempt/attempt.js';
import { FAILURE_CODES, FAILURE_REASONS, shownFailure } from '../../src/endpoints/failure.js';
import { patience } from '../runner/patience.js';
import { AttemptFixture, LONG, requestTo } from '../support/attempt-fixture.js';
import type { OddReceiver } from '../support/odd-receiver.js';
import { ODD_RECEIVERS, oddReceivers } from '../support/odd-receivers.js';

const HEAD = '| what your receiver does | what the account sees | what to do |\n|---|---|---|\n';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

const [, table = ''] = readFileSync('docs/receivers.md', 'utf8').split(HEAD);
const [lines = ''] = table.split('\n\n');
const rows = lines.split('\n').map((line) => cells(line.split('|').slice(1, -1)));

describe.each(rows)('a receiver that %s', (does, sees, toDo) => {
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
  expect(rows.map(([does]) => does)).toEqual(Object.keys(ODD_RECEIVERS));
});

test('each error and each reason has a row', () => {
  const errors = FAILURE_CODES.map((error) => shownFailure({ error }).error);
  expect(shownIn('error')).toEqual(new Set(errors));
  expect(shownIn('reason')).toEqual(new Set(Object.keys(FAILURE_REASONS)));
});

function shownIn(field: 'error' | 'reason') {
  const pattern = new RegExp(`\`${field}\` \`([\\w-]+)\``);
  return new Set(rows.flatMap(([, sees]) => pattern.exec(sees)?.[1] ?? []));
}

function cells([does = '', sees = '', toDo = '']: readonly string[]): [does: string, sees: string, toDo: string] {
  return [does.trim(), sees.trim(), toDo.trim()];
}

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
