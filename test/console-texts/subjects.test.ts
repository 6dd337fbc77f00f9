/** Which webhook a change is about, and what an update changed. */
import { headersChanged, subjectOf } from '../../src/console/history/subjects.js';

const of = (...headers: string[]) => ({ eventType: 'cash_in', url: 'https://loja.com.br/pix', headers });
const ADDED = { webhookId: 7, details: { before: null, after: of('X-Old', 'X-Both'), headersChanged: true } };
const REMOVED = { webhookId: 7, details: {} };

it('names a webhook that was removed by the change that added it', () => {
  expect(subjectOf(7, [], [REMOVED, ADDED])).toEqual({ type: 'cash_in', url: 'https://loja.com.br/pix' });
});

it.each([[[REMOVED]], [[REMOVED, { ...ADDED, webhookId: 8 }]]])(
  'names no webhook whose changes are older than what the page knows: %j',
  (known) => {
    expect(subjectOf(7, [], known)).toBeNull();
  },
);

it.each([
  [of('X-Old', 'X-Both'), of('X-Both', 'X-New'), true, { added: ['X-New'], removed: ['X-Old'] }],
  [of('X-Both'), of('X-Both'), true, { added: [], removed: [] }],
  [of('X-Both'), of('X-Both'), false, null],
  [null, of('X-Both'), true, null],
])('finds what an update changed: from %j to %j', (before, after, isChanged, expected) => {
  expect(headersChanged({ details: { before, after, headersChanged: isChanged } })).toEqual(expected);
});
