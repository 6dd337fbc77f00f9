/** The scheduler that is judged: the delivery scheduler where the tree has one, else the endpoint gate. */
import { existsSync } from 'node:fs';
import type { MakeScheduler } from './judged-scheduler.js';

const SCHEDULER = new URL('../../../src/delivery/isolation/delivery-scheduler.ts', import.meta.url);
const GATE = new URL('./endpoint-gate-judged.ts', import.meta.url);

export async function judgedScheduler(): Promise<MakeScheduler> {
  if (!existsSync(SCHEDULER)) return (await import(GATE.href)).makeEndpointGate;
  const { DeliveryScheduler } = await import(SCHEDULER.href);
  return (parts) => new DeliveryScheduler(parts);
}
