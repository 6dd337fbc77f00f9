/** Node has a buffer of its own for each chunk of a body, some 400 bytes for one byte: what is received must not keep them. */
import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Koa from 'koa';
import { jsonReader, readBody, readForm } from '../../src/http/body.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const CHUNKS = 60_000;
/** Nearly as many as a form may have: with a buffer for each it takes more than 3 MB. */
const OF_A_FORM = 8_000;
const MIB = 1024 * 1024;

function held(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Reads a body of one-byte chunks. @returns the memory that it holds before its last byte */
async function holds(type: string, chunks: number, read: (ctx: Koa.Context) => Promise<unknown>): Promise<number> {
  const req = Object.assign(new PassThrough(), { headers: { 'content-type': type, 'transfer-encoding': 'chunked' } });
  const ctx = new Koa().createContext(req as never, {} as never) as Koa.Context;
  const reading = read(ctx);
  const before = held();
  for (let n = 0; n < chunks - 1; n += 1)
    if (!req.write(' ')) await new Promise((drained) => req.once('drain', drained));
  const after = held();
  req.end('{}');
  await reading;
  return after - before;
}

it.each<[string, string, number, (ctx: Koa.Context) => Promise<unknown>]>([
  ['of payment events', 'application/x-ndjson', CHUNKS, (ctx) => readBody(ctx, CHUNKS + 1)],
  ['of JSON', 'application/json', CHUNKS, jsonReader({})],
  ['of a form', 'application/x-www-form-urlencoded', OF_A_FORM, readForm],
])('a body %s in chunks of one byte takes about its bytes', async (_, type, chunks, read) => {
  expect(await holds(type, chunks, read)).toBeLessThan(1.25 * MIB);
});
