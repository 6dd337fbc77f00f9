/** Which webhook a change is about, and what an update changed, from the changes that the page knows. */
import { headersChanged, subjectOf } from '../../src/console/history/subjects.js';

const change = (type: string, changes: string, webhookId = 7) => ({ type, webhookId, changes });
const ADDED = change('WebhookAdded', 'added: cash_in https://loja.com.br/pix v1, headers X-Old, X-Both');
const UPDATED = change('WebhookUpdated', 'updated: cash_in https://loja.com.br/pix v2, headers X-Both, X-New');
const BARE = change('WebhookUpdated', 'updated: cash_in https://loja.com.br/pix v3');
const REMOVED = change('WebhookRemoved', 'removed');

it('names a webhook that was removed by the change that added it', () => {
  expect(subjectOf(7, [], [REMOVED, ADDED])).toMatchObject({ type: 'cash_in', url: 'https://loja.com.br/pix' });
});

it.each([[[REMOVED]], [[REMOVED, change('WebhookAdded', ADDED.changes, 8)]]])(
  'names no webhook whose changes are older than what the page knows: %j',
  (known) => {
    expect(subjectOf(7, [], known)).toBeNull();
  },
);

it.each([
  [UPDATED, [UPDATED, ADDED], { added: ['X-New'], removed: ['X-Old'] }],
  [BARE, [BARE, UPDATED, ADDED], { added: [], removed: ['X-Both', 'X-New'] }],
  [BARE, [BARE, ADDED], null],
  [ADDED, [ADDED], null],
])('finds what an update changed by the version before: %j', (update, known, expected) => {
  expect(headersChanged(update, known)).toEqual(expected);
});
