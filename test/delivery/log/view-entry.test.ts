import { viewEntries } from '../../../src/delivery/log/view-entry.js';
import { received } from '../../support/generators/delivery-samples.js';
import { toLogRecord } from '../../support/generators/log-records.js';

const ROUTED = {
  ...{ payment: 'payment-events/0/7@1000', accountId: 42, eventId: 'pay-1', eventType: 'cash_in' },
  ...{ routed: 3, confirmed: 4, webhooks: [1] },
};

test.each([
  [
    { amount: '10.50', reference: 'E1' },
    { amount: '10.50', reference: 'E1' },
  ],
  [{ reference: 'E1' }, { amount: null, reference: 'E1' }],
  [{}, { amount: null, reference: null }],
])('a routing with %j has %j in the view', (given, fields) => {
  const record = received(toLogRecord({ store: 'one', routed: [{ ...ROUTED, ...given }] }));
  expect(viewEntries({ ...record, topic: 'deliveries' })).toMatchObject([
    { kind: 'routed', payment: ROUTED.payment, ...fields },
  ]);
});
