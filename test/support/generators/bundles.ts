/** Records of tiers, and the deliveries in them. */
import { type Delivery, fromRetryRecord, toMember } from '../../../src/delivery/delivery.js';
import { endpointKey } from '../../../src/delivery/endpoint-key.js';
import { membersOf, toBundle } from '../../../src/delivery/retry/bundle.js';
import type { NewRecord } from '../../../src/ports/broker.js';

export function bundleOf(
  deliveries: readonly [Delivery, ...Delivery[]],
  due: number,
  moreMs = 0,
  url = 'https://shop.example.com/1',
): NewRecord {
  return toBundle(endpointKey(deliveries[0].accountId, url), deliveries.map(toMember), { due, moreMs });
}

/** A bundle of one. */
export function retryRecord(delivery: Delivery, due: number, moreMs = 0): NewRecord {
  return bundleOf([delivery], due, moreMs);
}

export function deliveriesIn(record: NewRecord): Delivery[] {
  return (membersOf(record) ?? []).flatMap((member) => (member && fromRetryRecord(member)) ?? []);
}
