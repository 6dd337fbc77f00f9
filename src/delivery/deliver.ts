/**
 * One step of a delivery: pass the gate, make one attempt, and make the consequence (next-step.ts) durable: the retry
 * record or dead letter first, then the log entry about it. So a delivery that the log calls waiting does wait,
 * whatever fails in between.
 */
import { heldBytes, type RecordHold } from '../ports/broker.js';
import type { Webhook } from '../webhooks/state.js';
import type { AttemptResult } from './attempt/attempt.js';
import { inTraceOf, send, signalOf } from './attempt/send.js';
import type { Deliver, DeliverParts } from './deliver-parts.js';
import type { Delivery } from './delivery.js';
import { tellBreaker, tellStep } from './delivery-telling.js';
import type { Entered } from './isolation/endpoint-gate.js';
import { keepStep } from './keep-step.js';
import { nextStep, type StepResult } from './next-step.js';
import { confirmedRecipientOf, recipientOf } from './recipient.js';
import { resultOf, resultOfRefusal } from './step-result.js';

interface Stepped {
  readonly isOver: boolean;
}

export function createDeliver(parts: DeliverParts): Deliver {
  const { accounts, gate, health } = parts;

  return async function deliver(delivery, hold) {
    const takenAt = parts.monotonicNow();
    for (;;) {
      const stepped = await step(delivery, hold, takenAt);
      if (stepped) return stepped.isOver;
      // A delivery ends without an attempt only on the event store's word; the read model may be behind.
      await parts.confirmation.confirmed();
      const to = await confirmedRecipientOf(delivery, accounts, parts.wasRemoved);
      await mustBeOwn(hold);
      if (to.kind !== 'active') return handleResult(delivery, { kind: 'unsent', to }, takenAt);
    }
  };

  /** Null if nothing was done, because the webhook is not active before or after the queue, or has another URL after it. */
  async function step(delivery: Delivery, hold: RecordHold, takenAt: number): Promise<Stepped | null> {
    const before = recipientOf(delivery, accounts);
    if (before.kind !== 'active') return null;
    const { endpoint } = before.webhook;
    const entry = await gate.enter(delivery.accountId, endpoint, heldBytes(delivery.record));
    if (entry.kind === 'refused') {
      await mustBeOwn(hold);
      return { isOver: await handleResult(delivery, resultOfRefusal(entry), takenAt) };
    }
    let over: Promise<void> | undefined;
    // A receiver that keeps its connection busy keeps its slot, but does not delay the result.
    const leave = () => {
      if (over) void over.then(entry.leave);
      else entry.leave();
    };
    try {
      await mustBeOwn(hold);
      const to = recipientOf(delivery, accounts);
      if (to.kind !== 'active' || to.webhook.endpoint !== endpoint) return null;
      const attempted = await send(parts, delivery, to.webhook);
      const tell = () => tellEndpoint(delivery, to.webhook, attempted, entry);
      over = attempted?.over?.then(tell);
      if (!over) tell();
      const isOver = await handleResult(
        inTraceOf(delivery, attempted),
        await resultOf(parts, delivery, to.webhook, attempted),
        takenAt,
        // A dead letter may wait for days: the endpoint must not.
        leave,
      );
      return { isOver };
    } finally {
      leave();
    }
  }

  function tellEndpoint(
    delivery: Delivery,
    { endpoint }: Webhook,
    attempted: AttemptResult | null,
    entry: Entered,
  ): void {
    tellBreaker(parts, delivery, entry.ended(signalOf(attempted)));
    if (attempted?.kind === 'delivered') health.succeeded({ delivery, endpoint });
    else if (attempted?.kind === 'retryable') health.failed({ delivery, endpoint, failure: attempted });
  }

  /** @returns whether its turn is over */
  async function handleResult(
    delivery: Delivery,
    result: StepResult,
    takenAt: number,
    onHeld?: () => void,
  ): Promise<boolean> {
    const { schedule, timeoutMs, random } = parts;
    const inHandMs = parts.monotonicNow() - takenAt;
    const next = nextStep(delivery, result, { schedule, timeoutMs, inHandMs, now: parts.now(), random });
    tellStep(parts, delivery, result, next);
    await keepStep(onHeld ? { ...parts, onHeld } : parts, next);
    return next.outcome !== 'retrying' || next.delivery.turn > delivery.turn;
  }
}

/** @throws if another consumer has the record: an attempt from here would be a second one */
async function mustBeOwn(hold: RecordHold): Promise<void> {
  if (!(await hold.isOwn())) throw new Error('another consumer now has the record');
}
