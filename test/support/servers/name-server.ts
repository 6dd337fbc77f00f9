/** A name server on this machine (RFC 1035, UDP): A, AAAA and CNAME records of the names that a test gives it. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** Addresses, or the name that it is an alias of first. silent: no response; failing: SERVFAIL; absent: NXDOMAIN. */
export type NameAnswer = readonly string[] | 'silent' | 'failing' | 'absent';

export interface Query {
  readonly name: string;
  readonly family: 4 | 6;
}

export interface NameServer {
  /** `127.0.0.1:port` */
  readonly address: string;
  readonly queries: readonly Query[];
  close(): Promise<void>;
}

const TYPES = { A: 1, CNAME: 5, AAAA: 28 };
const CODES = { absent: 3, failing: 2 };

/** @param answer awaited before the response @param ttl of all records, s */
export async function startNameServer(
  answer: (query: Query) => NameAnswer | Promise<NameAnswer>,
  { ttl = 60 }: { readonly ttl?: number } = {},
): Promise<NameServer> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  const queries: Query[] = [];
  const respond = async (message: Buffer, { port, address }: RemoteInfo) => {
    const { query, end } = parseQuery(message);
    queries.push(query);
    const given = await answer(query);
    if (given === 'silent' || isClosed) return;
    const records = typeof given === 'string' ? [] : toRecords(given, query, ttl);
    const head = Buffer.from(message.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (typeof given === 'string' ? CODES[given] : 0), 2);
    head.writeUInt16BE(records.length, 6);
    head.fill(0, 8);
    socket.send(Buffer.concat([head, message.subarray(12, end), ...records]), port, address);
  };
  let isClosed = false;
  socket.on('message', (message, from) => void respond(message, from));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    async close() {
      isClosed = true;
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}

function parseQuery(message: Buffer): { query: Query; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const family = message.readUInt16BE(at + 1) === TYPES.AAAA ? 6 : 4;
  return { query: { name: labels.join('.'), family }, end: at + 5 };
}

/** An alias comes first; the addresses of the asked family are those of its target. */
function toRecords(answer: readonly string[], { family }: Query, ttl: number): Buffer[] {
  const alias = answer.find((one) => isIP(one) === 0);
  const owner = alias === undefined ? Buffer.from([0xc0, 12]) : toName(alias);
  const addresses = answer.filter((one) => isIP(one) === family);
  const records = addresses.map((one) => toRecord(owner, family === 4 ? TYPES.A : TYPES.AAAA, ttl, toBytes(one)));
  return alias === undefined
    ? records
    : [toRecord(Buffer.from([0xc0, 12]), TYPES.CNAME, ttl, toName(alias)), ...records];
}

function toRecord(owner: Buffer, type: number, ttl: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(ttl, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function toName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  return Buffer.concat([...labels, Buffer.of(0)]);
}

/** @param address IPv4, or IPv6 with at most one :: and no IPv4 inside */
function toBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::').map((half) => half);
  const words = (half: string) => (half === '' ? [] : half.split(':'));
  const missing = 8 - words(head).length - words(tail).length;
  const all = [...words(head), ...Array.from({ length: missing }, () => '0'), ...words(tail)];
  return Buffer.from(all.map((word) => word.padStart(4, '0')).join(''), 'hex');
}
