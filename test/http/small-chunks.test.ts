/** Node has a buffer of its own for each chunk of a body, some 400 bytes for one byte: what is received must not keep them. */
import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Koa from 'koa';
import { jsonReader, readBody, readForm } from '../../src/http/body.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const CHUNKS = 60_000;
const MIB = 1024 * 1024;

function held(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Reads a body of one-byte chunks. @returns the memory that it holds before its last byte */
async function holds(type: string, read: (ctx: Koa.Context) => Promise<unknown>): Promise<number> {
  const req = Object.assign(new PassThrough(), { headers: { 'content-type': type, 'transfer-encoding': 'chunked' } });
  const ctx = new Koa().createContext(req as never, {} as never) as Koa.Context;
  const reading = read(ctx);
  const before = held();
  for (let n = 0; n < CHUNKS - 1; n += 1)
    if (!req.write(' ')) await new Promise((drained) => req.once('drain', drained));
  const after = held();
  req.end('{}');
  await reading;
  return after - before;
}

it.each<[string, string, (ctx: Koa.Context) => Promise<unknown>]>([
  ['of payment events', 'application/x-ndjson', (ctx) => readBody(ctx, CHUNKS + 1)],
  ['of JSON', 'application/json', jsonReader({})],
  ['of a form', 'application/x-www-form-urlencoded', readForm],
])('a body %s in chunks of one byte takes about its bytes', async (_, type, read) => {
  expect(await holds(type, read)).toBeLessThan(1.25 * MIB);
});
