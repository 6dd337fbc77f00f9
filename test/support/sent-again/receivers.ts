/** The receivers of the account's webhooks. */
import type { AttemptResult } from '../../../src/delivery/attempt/attempt.js';
import { isRefusedOnPurpose } from '../../../src/delivery/attempt/classification.js';
import type { Delivery } from '../../../src/delivery/delivery.js';
import type { Process } from './kernel.js';
import type { Ending } from './known.js';
import type { World } from './world.js';

/** @param ended called with the result, once the process has it */
export async function receive(
  world: World,
  one: Process,
  { webhookId }: Delivery,
  ended: (as: Ending) => void,
): Promise<AttemptResult> {
  const { kernel } = world;
  const at = kernel.now;
  const isSlow = world.receivers.get(webhookId)?.isSlow === true && !world.isHealing;
  await one.pause(isSlow ? kernel.between(800, 3_500) : kernel.between(10, 400));
  const result = answerOf(world, webhookId);
  ended(isRefusedOnPurpose(result) ? 'refused' : result.kind);
  return { ...result, at, durationMs: kernel.now - at };
}

function answerOf({ kernel, receivers, isHealing, isAllOk }: World, webhookId: number) {
  const { ok = 1, gone = 0 } = receivers.get(webhookId) ?? {};
  if (isAllOk || kernel.chance(ok)) return { kind: 'delivered', status: 200, error: null, retryAfterMs: null } as const;
  if (!isHealing && kernel.chance(gone)) return { kind: 'gone', status: 410, error: null, retryAfterMs: null } as const;
  const retryAfterMs = kernel.chance(0.1) ? kernel.between(1, 8_000) : null;
  return { kind: 'retryable', status: 503, error: null, retryAfterMs } as const;
}
