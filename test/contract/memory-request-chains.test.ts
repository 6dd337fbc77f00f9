/** Tests of recoveries and cancellations rely on the chains in memory: they keep the contract of the durable ones. */
import type { RequestChains } from '../../src/ports/request-chains.js';
import { MemoryRequestChains } from '../support/scenes/memory-request-chains.js';
import { describeContract, type Features, type Subject } from './contract.js';
import { cases } from './request-chains-contract.js';

const MEMORY: Features = { has: [], patienceMs: 1_000 };

describeContract('the chains of requests in memory', async (features) => subjectOf(features), MEMORY, cases);

/** Its memory is the data behind it, so the same instance is opened again. */
function subjectOf(features: Features): Subject<RequestChains> {
  const port = new MemoryRequestChains();
  const missing = () => Promise.reject(new Error('chains in memory have no such fault'));
  const same = () => Promise.resolve(port);
  return {
    ...{ features, port, stall: missing, damage: missing, poison: missing },
    reopen: same,
    another: same,
    close: async () => port.close(),
  };
}
