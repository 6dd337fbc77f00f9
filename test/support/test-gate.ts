/** A gate whose clock stands still until the test advances it: no attempt is slow, nothing waits for long. */
import type { Breakers } from '../../src/delivery/isolation/circuit-breaker.js';
import { EndpointGate, type GateParts } from '../../src/delivery/isolation/endpoint-gate.js';
import { VirtualClock } from './virtual-clock.js';

const WITHIN_MS = 5_000;
const NEVER_OPEN: Breakers = {
  ask: () => ({ kind: 'pass', probe: null }),
  ended: () => null,
  openForMs: () => 0,
  open: 0,
};

export function testGate(parts: Partial<GateParts> = {}): EndpointGate {
  const { clock = new VirtualClock(), ...rest } = parts;
  return new EndpointGate({ total: 256, perEndpoint: 1, withinMs: WITHIN_MS, breakers: NEVER_OPEN, clock, ...rest });
}
