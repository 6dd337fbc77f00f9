import { tierAppears } from '../../../src/delivery/retry/tiers.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import { BrokerUnavailable } from '../../../src/ports/broker.js';
import { recordingLogger } from '../../support/recording-logger.js';

const OWN = 'a.webhooks.retry.5s';
const OTHERS = ['webhooks.retry.1s', 'a.webhooks.retry.notes', 'a.webhooks.requests'];

/** @param looks what each look finds; the last one ends the looking */
function looking(looks: readonly (readonly string[] | Error)[]) {
  const stopping = new AbortController();
  let look = 0;
  const listTopics = async () => {
    const found = looks[look] ?? [];
    look += 1;
    if (look === looks.length) stopping.abort();
    if (found instanceof Error) throw found;
    return [...found];
  };
  const parts = { broker: { listTopics }, topics: topicsOf(['payment-events'], 'a.'), logger: recordingLogger() };
  return tierAppears(parts, [OWN], 1, stopping.signal);
}

test.each([
  ['a tier of its prefix that is not read appears', true, [[OWN], [OWN, 'a.webhooks.retry.2h']]],
  ['a look fails before it', true, [new BrokerUnavailable('not now'), ['a.webhooks.deferred.2h']]],
  ['there are only tiers that are read, and topics that are none of its own', false, [[OWN, ...OTHERS], [OWN]]],
])('where %s, it is %s that there is something to be read', async (_, isSo, looks) => {
  expect(await looking(looks)).toBe(isSo);
});
