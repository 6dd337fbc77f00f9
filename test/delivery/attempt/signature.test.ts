import { parseSigningSecret, signatureOf } from '../../../src/delivery/attempt/signature.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;

test('signs the vector of Standard Webhooks as that says', () => {
  const signature = signatureOf({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: Buffer.from('{"test": 2432232314}'),
    secrets: [parseSigningSecret(SECRET)],
  });
  expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

describe('parseSigningSecret', () => {
  test.each([24, 32, 63, 64])('takes %d bytes', (bytes) => {
    expect(parseSigningSecret(secretOf(bytes))).toEqual(Buffer.alloc(bytes, 7));
  });

  test.each([
    ['23 bytes', secretOf(23)],
    ['65 bytes', secretOf(65)],
    ['nothing', ''],
    ['no bytes', 'whsec_'],
    ['no prefix', SECRET.slice('whsec_'.length)],
    ['another prefix', SECRET.replace('whsec_', 'whsk_')],
    ['a space at the end', `${SECRET} `],
    ['a line end at the end', `${SECRET}\n`],
    ['base64url', `whsec_${Buffer.alloc(32, 255).toString('base64url')}`],
    ['padding left out', secretOf(32).replace('=', '')],
    ['padding too much', `${SECRET}==`],
  ])('refuses %s', (_, text) => {
    expect(() => parseSigningSecret(text)).toThrow('a signing secret is whsec_');
  });
});
