/**
 * An account that does its worst by its own rights: many connections with one token, each as fast as it is let. One that
 * does not read pipelines its requests and never takes an answer; the others ask again when they have theirs.
 */
import { connect, type Socket } from 'node:net';
import { apiRequest, type Requests } from '../support/api-requests.js';
import { answerParent } from '../support/child.js';
import { MessageCutter } from '../support/http-message.js';

export interface Attack {
  readonly port: number;
  readonly connections: number;
  readonly requests: Requests;
  /** So many are sent at once on each connection, and no answer is read; null: one after the other, each answer read. */
  readonly pipelined: number | null;
}

/** By status. */
export type Answers = Readonly<Record<string, number>>;

const RECONNECT_AFTER_MS = 100;

let sockets: Socket[] = [];
let attacking = false;
let answers: Record<string, number> = {};
let sent = 0;

export const handlers = {
  begin: (attack: Attack): void => {
    attacking = true;
    answers = {};
    sockets = [];
    for (let n = 0; n < attack.connections; n += 1) keep(attack, n);
  },
  end: (): Answers => {
    attacking = false;
    for (const socket of sockets) socket?.destroy();
    return answers;
  },
};

/** One that the server closes is made again: it never gives up. */
function keep(attack: Attack, n: number): void {
  const socket = connect(attack.port, '127.0.0.1').setNoDelay(true);
  sockets[n] = socket;
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    if (attacking) setTimeout(() => attacking && keep(attack, n), RECONNECT_AFTER_MS);
  });
  if (attack.pipelined === null) askAgain(socket, attack.requests);
  else flood(socket, attack.requests, attack.pipelined);
}

function flood(socket: Socket, requests: Requests, count: number): void {
  socket.pause();
  socket.on('connect', () => socket.write(Buffer.concat(Array.from({ length: count }, () => next(requests)))));
}

function askAgain(socket: Socket, requests: Requests): void {
  const cutter = new MessageCutter((head) => {
    const status = head.slice('HTTP/1.1 '.length).slice(0, 3);
    answers[status] = (answers[status] ?? 0) + 1;
    socket.write(next(requests));
  });
  socket.on('connect', () => socket.write(next(requests)));
  socket.on('data', (chunk: Buffer) => cutter.add(chunk));
}

function next(requests: Requests): Buffer {
  sent += 1;
  return apiRequest(requests, sent);
}

answerParent(handlers);
