/** The dependencies of a delivery step, and the step's type. */
import type { RecordHold } from '../ports/broker.js';
import type { Accounts } from '../read-model/accounts.js';
import type { WasRemoved } from '../read-model/removed-webhooks.js';
import type { SendParts } from './attempt/send.js';
import type { Confirmation } from './confirmation.js';
import type { Delivery } from './delivery.js';
import type { EndpointGate } from './isolation/endpoint-gate.js';
import type { EndpointHealth } from './isolation/endpoint-health.js';
import type { KeepParts } from './keep-step.js';
import type { Delay } from './retry/retry-schedule.js';
import type { StepResultParts } from './step-result.js';

export interface DeliverParts extends StepResultParts, KeepParts, SendParts {
  readonly accounts: Accounts;
  readonly wasRemoved: WasRemoved;
  readonly confirmation: Pick<Confirmation, 'confirmed'>;
  readonly gate: Pick<EndpointGate, 'enter'>;
  readonly health: EndpointHealth;
  readonly schedule: readonly Delay[];
  /** The timeout of one attempt. */
  readonly timeoutMs: number;
  /** ms of a monotonic clock. */
  readonly monotonicNow: () => number;
  readonly random: () => number;
}

/**
 * Fulfilled when the delivery has ended or its next attempt is durable. Rejected if the service abandons its work, or
 * if another consumer got the record before the delivery had a place: that consumer delivers. False: it was parked, and waits
 * with the same turn.
 */
export type Deliver = (delivery: Delivery, hold: RecordHold) => Promise<boolean>;
