import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EndpointAgent } from '../../../src/endpoints/endpoint-agent.js';

/** One request by the agent of deliveries. @returns the status, once the connection is idle */
export async function postTo(agent: EndpointAgent, origin: string, accountId = 42): Promise<number> {
  const status = await new Promise<number>((resolve, reject) => {
    let answered = 0;
    agent.dispatch(
      { accountId, url: `${origin}/`, origin, path: '/', method: 'POST', body: '{}' },
      {
        onRequestStart: () => {},
        onResponseStart: (_, code) => {
          answered = code;
        },
        onResponseEnd: () => resolve(answered),
        onResponseError: (_, error) => reject(error),
      },
    );
  });
  await nextTurn(); // the connection is idle one turn of the event loop after its response
  return status;
}
