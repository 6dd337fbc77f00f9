/** A gate whose clock stands still until the test advances it: no attempt is slow, nothing waits for long. */
import { EndpointGate, type GateParts } from '../../src/delivery/isolation/endpoint-gate.js';
import { VirtualClock } from './virtual-clock.js';

const WITHIN_MS = 5_000;

export function testGate(parts: Partial<GateParts> = {}): EndpointGate {
  const { clock = new VirtualClock(), ...rest } = parts;
  return new EndpointGate({ total: 256, perEndpoint: 1, withinMs: WITHIN_MS, breakers: null, clock, ...rest });
}
