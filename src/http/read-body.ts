/** Reads a request's body: its bytes count from their arrival on, and nothing of it is unpacked. */
import type { Context } from 'koa';
import { ApiError } from './api-error.js';

export interface BodyLimit {
  readonly bytes: number;
  readonly tooLarge: () => ApiError;
}

/**
 * @param take called with the length of each chunk; what it throws ends the reading
 * @throws ApiError 400, and that of the limit
 */
export async function readBody(
  { req }: Pick<Context, 'req'>,
  limit: BodyLimit,
  take: (bytes: number) => void = () => undefined,
): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? '0') > limit.bytes) throw limit.tooLarge();
  const body = new Collected();
  const add = (chunk: Buffer) => {
    if (body.length + chunk.length > limit.bytes) throw limit.tooLarge();
    take(chunk.length);
    body.add(chunk);
  };
  await received(req, add);
  return body.whole();
}

/** One buffer: a chunk of one byte, kept as it came, takes some 400 bytes of memory. */
class Collected {
  length = 0;
  #held = Buffer.alloc(0);

  add(chunk: Buffer): void {
    if (this.length + chunk.length > this.#held.length) this.#grow(this.length + chunk.length);
    chunk.copy(this.#held, this.length);
    this.length += chunk.length;
  }

  whole(): Buffer {
    return this.#held.subarray(0, this.length);
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(least, 2 * this.#held.length));
    this.#held.copy(larger, 0, 0, this.length);
    this.#held = larger;
  }
}

/** Not an async iterator, whose early end destroys the connection before the answer is sent. */
function received(req: Context['req'], add: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      try {
        add(chunk);
      } catch (error) {
        // The rest flows away unread, for as long as a request may take.
        req.off('data', onData).resume();
        reject(error);
      }
    };
    const cutOff = () => reject(new ApiError(400, 'the body could not be read completely'));
    // The client may have gone while its token was verified: then no event comes any more.
    if (req.destroyed) return cutOff();
    req.on('data', onData).once('end', resolve).once('error', cutOff).once('close', cutOff);
  });
}
