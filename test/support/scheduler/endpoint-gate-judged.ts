/** The endpoint gate, as the judge asks. It knows no pauses: a refusal is a failure. */
import { CircuitBreakers } from '../../../src/delivery/isolation/circuit-breaker.js';
import type { Admission } from '../../../src/delivery/isolation/endpoint.js';
import { EndpointGate } from '../../../src/delivery/isolation/endpoint-gate.js';
import type { JudgedAcquired, JudgedDeferred, MakeScheduler } from './judged-scheduler.js';

const WITHIN_MS = 5_000;

export const makeEndpointGate: MakeScheduler = ({ slots, perEndpoint, clock, random }) => {
  const breakers = new CircuitBreakers({ now: clock.now, random });
  const gate = new EndpointGate({ total: slots, perEndpoint, withinMs: WITHIN_MS, clock, breakers });
  return {
    acquire: async (accountId, url, { bytes }) => judged(await gate.enter(accountId, url, { bytes })),
    get state() {
      return gate.state;
    },
  };
};

function judged(admission: Admission): JudgedAcquired | JudgedDeferred {
  if (admission.kind === 'refused')
    return { kind: 'deferred', why: admission.why === 'open' ? 'endpoint-failing' : 'queue', pausedMs: 0 };
  return {
    kind: 'acquired',
    hasSucceededLately: false,
    ended: ({ signal }) => admission.ended(signal === 'refused' ? 'failed' : signal),
    leave: () => admission.leave(),
  };
}
