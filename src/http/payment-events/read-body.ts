/** Reads a body of payment events: its bytes count from their arrival on, and nothing of it is unpacked. */
import type { Context } from 'koa';
import { ApiError } from '../api-error.js';

export const MAX_BODY_BYTES = 1024 * 1024;

const tooLarge = () => new ApiError(413, `the body has more than ${MAX_BODY_BYTES} bytes: send it in several requests`);

/**
 * @param take called with the length of each chunk; what it throws ends the reading
 * @throws ApiError 400, 413, 415
 */
export async function readBody({ req }: Pick<Context, 'req'>, take: (bytes: number) => void): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = req.headers;
  if (encoding.trim().toLowerCase() !== 'identity') throw new ApiError(415, 'the content-encoding is not supported');
  if (Number(length) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const add = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    take(chunk.length);
    chunks.push(chunk);
  };
  await received(req, add);
  return Buffer.concat(chunks);
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
