import { Oracle } from './oracle.js';
import type { ReceivedRequest, Receiver } from './receiver.js';
import { paymentEvents } from './story.js';

const URL = 'https://localhost:1';
const [ONE = '', TWO = ''] = paymentEvents(1, 2).split('\n');

/** A receiver's memory, filled by hand. */
function memory() {
  const requests: ReceivedRequest[] = [];
  const taken: ReceivedRequest[] = [];
  const came = (body: string, { path = '/a', id = 'msg_1', isTaken = true } = {}) => {
    const request = { path, body: Buffer.from(body), headers: { 'webhook-id': id } } as unknown as ReceivedRequest;
    requests.push(request);
    if (isTaken) taken.push(request);
  };
  const oracle = new Oracle([{ url: URL, requests, taken } as unknown as Receiver]);
  oracle.due(ONE, [`${URL}/a`]);
  return { oracle, came };
}

const FINE = { pairs: 1, lost: 0, sentTwice: 0, differing: 0, unexpected: 0 };

test.each<[string, object, (came: ReturnType<typeof memory>['came'], oracle: Oracle) => void]>([
  ['what came once', {}, (came) => came(ONE)],
  ['what was never sent', { lost: 1 }, () => undefined],
  ['what was only refused', { lost: 1 }, (came) => came(ONE, { isTaken: false })],
  ['what was refused first', {}, (came) => [false, true].forEach((isTaken) => void came(ONE, { isTaken }))],
  ['what was taken twice', { sentTwice: 1 }, (came) => [1, 2].forEach(() => void came(ONE))],
  ['another webhook-id', { sentTwice: 1, differing: 1 }, (came) => ['x', 'y'].forEach((id) => void came(ONE, { id }))],
  ['another body', { differing: 1 }, (came) => came(ONE.replace('10.00', '99.00'))],
  ['what nobody published', { lost: 1, unexpected: 1 }, (came) => came(TWO)],
  ['what is not JSON', { lost: 1, unexpected: 1 }, (came) => came('junk')],
  ['a URL it was not for', { lost: 1, unexpected: 1 }, (came) => came(ONE, { path: '/b' })],
  [
    'what may have been published, and came',
    {},
    (came, oracle) => {
      oracle.maybe(TWO, [`${URL}/a`]);
      came(ONE);
      came(TWO);
    },
  ],
  [
    'what was published for certain after it came',
    { pairs: 2 },
    (came, oracle) => {
      oracle.maybe(TWO, [`${URL}/a`]);
      came(ONE);
      came(TWO);
      oracle.verdict();
      oracle.due(TWO, [`${URL}/a`]);
    },
  ],
])('it sees %s', (_, sees, happens) => {
  const { oracle, came } = memory();
  happens(came, oracle);
  expect(oracle.verdict()).toEqual({ ...FINE, ...sees });
});

test('what is lost is named', async () => {
  const { oracle } = memory();
  await expect(oracle.nothingLost(10)).rejects.toThrow(`1 of 1 were lost: 1 evt-0 ${URL}/a ...`);
});
