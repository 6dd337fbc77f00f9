import { testInFull } from '../support/thorough.js';
import { walk } from '../support/walk/walk.js';

/**
 * Files of src/ that one call runs through, warm. Each step lowers them. 459d24c9 has 65 and 99 so counted, and up to 101 where
 * the machine is so busy that a look for new records falls into each call.
 */
const CEILINGS = { post: 51, payment: 80 };

testInFull('a POST and a payment run through no more files than before', async () => {
  const { post, payment } = await walk();
  // What each of them can't do without: an empty walk would be below each ceiling.
  expect(post).toEqual(expect.arrayContaining(['src/webhooks/decide.ts', 'src/http/webhooks/register-webhook.ts']));
  expect(payment).toEqual(expect.arrayContaining(['src/delivery/fan-out.ts', 'src/delivery/attempt/exchange.ts']));
  expect(post.length).toBeLessThanOrEqual(CEILINGS.post);
  expect(payment.length).toBeLessThanOrEqual(CEILINGS.payment);
});
