/** The links that a server's own projections write (started with --run-projections=All --start-standard-projections). */
import { type Position, START, streamNameFilter } from '@eventstore/db-client';
import { eventually } from '../../support/eventually.js';
import { collect, event, harness, numbers } from './harness.js';
import { needsTestServer } from './own-server.js';

const { open, start, client: connect } = harness();
let client: ReturnType<typeof connect>;

beforeEach(async () => {
  client = connect((await open()).url);
});

const all = () => collect(client.readAll({ fromPosition: START }));
const links = async (text: string) =>
  (await all()).filter((each) => each.event?.type === '$>' && `${Buffer.from(each.event.data as Uint8Array)}` === text);
const linking = async (text: string) => (await links(text)).map((each) => each.event?.streamId);

test('each event is followed by links in the streams of its category and of its type', async () => {
  const { position } = await client.appendToStream('account-1', [event(1), event(2)]);
  for (const link of ['0@account-1', '1@account-1']) {
    const both = expect.arrayContaining(['$ce-account', '$et-Counted']);
    await eventually(async () => (await linking(link)).length > 1);
    expect(await linking(link)).toEqual(both);
    const [first] = await links(link);
    expect(first?.event).toMatchObject({ isJson: false });
  }
  const { commit } = position as Position;
  expect((await links('1@account-1')).every((each) => (each.event?.position?.commit ?? 0n) > commit)).toBe(true);
});

test('they do not come through a filter for streams of ours, and links are not linked', async () => {
  await client.appendToStream('account-1', event(1));
  await eventually(async () => (await linking('0@account-1')).length > 1);
  await client.appendToStream('account-1', event(2));
  const subscription = client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['account-'] }) });
  expect(numbers(await collect(subscription, 2))).toEqual([1, 2]);
  expect((await all()).filter((each) => each.event?.streamId === '$et-$>')).toEqual([]);
});

needsTestServer(() =>
  describe('of the test server', () => {
    const streamsOf = (server: Awaited<ReturnType<typeof start>>) =>
      server.data.log.slice(1).map(({ stream }) => stream);

    test('are three of each event with a correlation id, and a fourth of the first one in a stream', async () => {
      const server = await start();
      client = connect(server.url);
      for (const number of [1, 2]) await client.appendToStream('account-1', event(number));
      const each = ['account-1', '$ce-account', '$et-Counted', '$bc-c'];
      expect(streamsOf(server)).toEqual([...each, '$streams', ...each]);
    });
  }),
);
