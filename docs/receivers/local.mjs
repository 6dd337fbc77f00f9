// The receiver of the quick start: HTTPS on a port of this machine, with the certificate in tour/. It verifies every
// signature with node:crypto alone; docs/receivers.md has receivers for production, and how to verify.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { buffer } from 'node:stream/consumers';

const secret = Buffer.from(process.env.WEBHOOK_SECRET.replace('whsec_', ''), 'base64');
const tls = { key: readFileSync('tour/key.pem'), cert: readFileSync('tour/cert.pem') };

function isVerified({ 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' }, body) {
  const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest();
  const given = signatures.split(' ').map((signature) => Buffer.from(signature.replace('v1,', ''), 'base64'));
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
  return isRecent && given.some((bytes) => bytes.length === expected.length && timingSafeEqual(bytes, expected));
}

createServer(tls, async (request, response) => {
  const body = await buffer(request); // the bytes as they came: the signature covers these
  const verified = isVerified(request.headers, body);
  console.log(verified ? 'signature verified:' : 'SIGNATURE WRONG:', request.headers['webhook-id'], body.toString());
  response.writeHead(verified ? 204 : 401).end();
}).listen(Number(process.argv[2]), '127.0.0.1');
