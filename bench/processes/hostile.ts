/** Receivers that do their worst, in a process of their own: those of the hostile receivers' tests that answer something. */
import { HOSTILE_KINDS } from '../../test/support/servers/hostile-endpoints.js';
import { answerParent } from '../support/child.js';

const KINDS = [
  'hangs in TLS',
  'hangs before headers',
  'hangs in the body',
  'endless headers',
  'a flood of 1xx',
  'an endless body',
  'resets',
  'no HTTP',
];

export const handlers = {
  /** @returns the port of each kind */
  listen: async (): Promise<number[]> => {
    const kinds = HOSTILE_KINDS.filter(({ name }) => KINDS.includes(name));
    const endpoints = await Promise.all(kinds.map(({ start }) => start()));
    return endpoints.map(({ port }) => port);
  },
};

answerParent(handlers);
