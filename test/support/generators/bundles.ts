/** Records of tiers, and the deliveries in them. */
import { type Delivery, fromRetryRecord, toMember } from '../../../src/delivery/delivery.js';
import { endpointKey } from '../../../src/delivery/endpoint-key.js';
import { type Bundle, membersOf, toBundle, waitOf } from '../../../src/delivery/retry/bundle.js';
import type { NewRecord, ReceivedRecord } from '../../../src/ports/broker.js';

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

/** @throws for a record that is not a bundle */
export function decoded(record: ReceivedRecord): Bundle {
  const members = membersOf(record);
  if (!members) throw new Error(`${record.topic} has a record that is not a bundle`);
  return { record, wait: waitOf(record), members };
}

export function deliveriesIn(record: NewRecord): Delivery[] {
  return (membersOf(record) ?? []).flatMap((member) => (member && fromRetryRecord(member)) ?? []);
}
