/**
 * The limit of delivery: undici alone, sending what the service would send (as many bytes, under as many headers), on as
 * many connections, to the same receivers. It parses, signs, stores and looks up nothing: request(), as
 * whoever sends webhooks would write it.
 */
import { Agent, type Dispatcher } from 'undici';
import { answerParent } from '../support/child.js';
import { payment } from '../support/payments.js';
import { HEADER } from '../support/population.js';

export interface Loop {
  readonly origins: readonly string[];
  readonly connections: number;
  readonly ca: string;
}

let agent: Agent | null = null;
let running = false;
let underWay = 0;
let idle: () => void = () => undefined;

export const handlers = {
  begin: ({ origins, connections, ca }: Loop): void => {
    agent ??= new Agent({ connect: { ca }, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
    running = true;
    for (const origin of origins) for (let n = 0; n < connections; n += 1) void keepSending(agent, toSend(origin));
  },
  /** Fulfilled when every request has its answer. */
  end: async (): Promise<void> => {
    running = false;
    if (underWay > 0) await new Promise<void>((resolve) => (idle = resolve));
  },
};

function toSend(origin: string): Dispatcher.RequestOptions {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'account-webhooks',
    'webhook-id': 'msg_0123456789abcdefghijklmnopq',
    'webhook-timestamp': '1790000000',
    'webhook-signature': 'v1,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
    [HEADER.key]: HEADER.value,
  };
  const body = payment('pay-12345-123456', 1);
  return { origin, path: '/account/1', method: 'POST', headers: Object.entries(headers).flat(), body };
}

async function keepSending(through: Agent, options: Dispatcher.RequestOptions): Promise<void> {
  underWay += 1;
  while (running) await requested(through, options);
  underWay -= 1;
  if (underWay === 0) idle();
}

async function requested(through: Agent, options: Dispatcher.RequestOptions): Promise<void> {
  const { body } = await through.request(options);
  await body.dump();
}

answerParent(handlers);
