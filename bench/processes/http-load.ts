/**
 * A load on the API: so many connections, kept alive, each sends its next request when it has its answer. As cheap as can
 * be, so that the server is what is measured. An answer that is not 200 or 202 ends it.
 */
import { connect, type Socket } from 'node:net';
import { apiRequest, type Requests } from '../support/api-requests.js';
import { answerParent } from '../support/child.js';
import { machineMs } from '../support/clock.js';
import { MessageCutter } from '../support/http-message.js';

export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly requests: Requests;
}

export interface Loaded {
  readonly perSecond: number;
  /** ms, of each request that ended within the time. */
  readonly times: readonly number[];
}

/** Goes on from load to load. */
let sent = 0;

export const handlers = {
  load: async (load: Load): Promise<Loaded> => {
    const from = machineMs() + 1_000 * load.warmUpSeconds;
    const until = from + 1_000 * load.seconds;
    const times: number[] = [];
    const heard = (begun: number, now: number) => {
      if (now >= from && now < until) times.push(now - begun);
      return now < until;
    };
    const spinning = spin();
    try {
      await Promise.all(Array.from({ length: load.connections }, () => keepAsking(load, heard)));
    } finally {
      spinning.end();
    }
    return { perSecond: times.length / load.seconds, times };
  },
};

/**
 * Keeps this process from sleeping: to wake it is work of whoever writes to it, and the more time a server takes, the
 * oftener it has to. GET cost 59 us of CPU with a load that slept and 36 with this one; the bare route 29 and 26.
 */
function spin(): { end(): void } {
  let turn = setImmediate(function again() {
    turn = setImmediate(again);
  });
  return { end: () => clearImmediate(turn) };
}

/** @param heard of an answer, begun and now; false ends it */
function keepAsking(load: Load, heard: (begun: number, now: number) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(load.port, '127.0.0.1').setNoDelay(true);
    let begun = 0;
    const ask = () => {
      begun = machineMs();
      socket.write(apiRequest(load.requests, sent));
      sent += 1;
    };
    const cutter = new MessageCutter((head, body) => {
      if (!/^HTTP\/1\.1 20[02] /.test(head)) reject(new Error(`${head}\n\n${body}`));
      else if (heard(begun, machineMs())) return ask();
      socket.end();
    });
    socket.on('connect', ask).on('data', (chunk: Buffer) => cutter.add(chunk));
    socket.on('error', reject).on('close', () => resolve());
  });
}

answerParent(handlers);
