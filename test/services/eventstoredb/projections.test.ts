/** Projections on the server, as measured of a real one. */
import { readFileSync } from 'node:fs';
import { jsonEvent } from '@eventstore/db-client';
import { eventually } from '../../support/eventually.js';
import { collect, failure, harness } from './harness.js';
import { VERSIONS } from './own-server.js';

const { open, client: connect } = harness();
let client: ReturnType<typeof connect>;

beforeEach(async () => {
  client = connect((await open()).url);
});

const counting = (step = 'state.count += event.data.number') => `
  fromCategory('account').foreachStream().when({
    $init: () => ({ count: 0 }),
    Counted: (state, event) => { ${step}; return state; },
    $deleted: (state) => { state.isDeleted = true; return { returned: true }; },
  })`;

const count = (stream: string, number: number) =>
  client.appendToStream(stream, jsonEvent({ type: 'Counted', data: { number } }));
const state = (partition = 'account-1') => client.getProjectionState('counts', { partition });
const status = () => client.getProjectionStatus('counts');
const withOutput = () => `${counting()}.outputState()`;
const results = (stream = '$projections-counts-account-1-result') => collect(client.readStream(stream));
const listed = async () => (await client.listProjections()).map(({ name }) => name);
const stateIs = (expected: unknown) =>
  eventually(async () => JSON.stringify(await state()) === JSON.stringify(expected));

test("the project's own sources run", async () => {
  const source = readFileSync(new URL('../../../projections/account-webhooks.js', import.meta.url), 'utf8');
  await client.createProjection('account-webhooks', source);
  await client.appendToStream('account-1', jsonEvent({ type: 'AccountRegistered', data: { accountId: '1' } }));
  const webhooks = () => client.getProjectionState('account-webhooks', { partition: 'account-1' });
  await eventually(async () => 'accountId' in Object(await webhooks()));
  expect(await webhooks()).toEqual({ accountId: '1', webhooks: [], failing: [], recoveries: [] });
});

describe('a projection', () => {
  beforeEach(async () => {
    await client.createProjection('counts', counting());
    await count('account-1', 2);
    await count('other-1', 3);
    await stateIs({ count: 2 });
  });

  test('has a state for each stream of its category, and {} for others', async () => {
    expect(await state('account-2')).toEqual({});
    expect(await state('other-1')).toEqual({});
    expect(await client.getProjectionResult('counts', { partition: 'account-1' })).toEqual({ count: 2 });
    expect(await status()).toMatchObject({ name: 'counts', status: 'Running', stateReason: '' });
  });

  test('without outputState has the same states, and writes no results', async () => {
    expect(await failure(results())).toMatchObject({ type: 'stream-not-found' });
  });

  test('with outputState writes each state to a result stream, and links all results', async () => {
    await client.updateProjection('counts', withOutput());
    await count('account-1', 3);
    await stateIs({ count: 5 });
    const [, source] = await collect(client.readStream('account-1'));
    expect((await results()).map(({ event }) => event)).toMatchObject([
      { type: 'Result', data: { count: 5 }, metadata: { $causedBy: source?.event?.id } },
    ]);
    const links = await eventually(() => results('$projections-counts-result'));
    expect(links.map(({ event }) => event)).toMatchObject([
      { type: '$>', isJson: false, data: Buffer.from('0@$projections-counts-account-1-result') },
    ]);
  });

  test('that is updated to a source without outputState writes no more results', async () => {
    await client.updateProjection('counts', withOutput());
    await count('account-1', 3);
    await stateIs({ count: 5 });
    await client.updateProjection('counts', counting());
    await count('account-1', 3);
    await stateIs({ count: 8 });
    expect(await results()).toHaveLength(1);
  });

  test('shows the source that it runs in the last $ProjectionUpdated of a stream of the system', async () => {
    await client.updateProjection('counts', withOutput());
    await client.disableProjection('counts');
    await client.enableProjection('counts');
    const updates = (await results('$projections-counts')).filter(({ event }) => event?.type === '$ProjectionUpdated');
    expect(updates[0]?.event?.data).toMatchObject({ query: counting() });
    expect(updates.at(-1)?.event?.data).toMatchObject({ query: withOutput() });
  });

  test('that exists can not be created again', async () => {
    const error = await failure(client.createProjection('counts', counting()));
    expect(error).toMatchObject({
      kind: 'UnknownError',
      type: 'unknown',
      message: expect.stringContaining('Conflict'),
    });
  });

  test('keeps its place and its states when it is updated, and begins anew when it is reset', async () => {
    await client.updateProjection('counts', counting('state.count += 10 * event.data.number'));
    await count('account-1', 1);
    await stateIs({ count: 12 });
    await client.resetProjection('counts');
    await stateIs({ count: 30 });
  });

  test('does nothing while it is disabled', async () => {
    await client.disableProjection('counts');
    await count('account-1', 1);
    expect(await status()).toMatchObject({ status: 'Stopped' });
    expect(await state()).toEqual({ count: 2 });
    await client.enableProjection('counts');
    await stateIs({ count: 3 });
  });

  test('that is stopped and reset has no states, and folds again once it is enabled', async () => {
    await client.disableProjection('counts');
    await client.updateProjection('counts', counting('state.count += 10 * event.data.number'));
    await client.resetProjection('counts');
    await stateIs({});
    expect(await status()).toMatchObject({ status: 'Stopped' });
    await client.enableProjection('counts');
    await stateIs({ count: 20 });
  });

  test('sees $deleted when a stream is deleted: what it mutates counts, what it returns does not', async () => {
    await client.deleteStream('account-1');
    await stateIs({ count: 2, isDeleted: true });
  });

  test('says Running, and stands still while $by_category is stopped', async () => {
    await client.createProjection('later', counting());
    await client.disableProjection('$by_category');
    await count('account-1', 5);
    await count('account-2', 5);
    await eventually(async () => (await client.getProjectionStatus('$by_category')).status === 'Stopped');
    expect(await status()).toMatchObject({ status: 'Running' });
    expect(await state()).toEqual({ count: 2 });
    await client.enableProjection('$by_category');
    await stateIs({ count: 7 });
  });

  test('of no handlers has the data of the last event as its state', async () => {
    await client.updateProjection('counts', `fromCategory('account').foreachStream().when({})`);
    await client.appendToStream('account-1', jsonEvent({ type: 'Other', data: { number: 9, text: 'last' } }));
    await stateIs({ number: 9, text: 'last' });
  });
});

test.each([
  ['throws', 'throw new Error("broken")', /broken/],
  ['makes a NaN', 'state.count = Number.NaN', /cannot be written as valid JSON/],
  [
    'runs for too long',
    'for (;;);',
    /Projection script took too long to execute \(took: 00:00:00\.25\d*, allowed: 00:00:00\.25\d*$/m,
  ],
  ['uses what the server has not', 'console.log(state)', /console is not defined/],
])(
  'a handler that %s faults the whole projection until it is mended, and then it goes on there',
  async (_, step, why) => {
    await client.createProjection('counts', counting(`if (event.data.number === 1) { ${step} } else state.count += 1`));
    for (const number of [5, 1, 5]) await count('account-1', number);
    await eventually(async () => (await status())?.status === 'Faulted (Enabled)');
    expect((await status())?.stateReason).toMatch(why);
    expect(await state()).toEqual({ count: 1 });
    await client.updateProjection('counts', counting());
    await stateIs({ count: 7 });
  },
);

test('a projection that was given no event yet has a progress of -1', async () => {
  await count('account-1', 2);
  await client.createProjection('other', counting().replace("'account'", "'nobody'"));
  await client.createProjection('counts', counting());
  await stateIs({ count: 2 });
  expect((await client.getProjectionStatus('other')).progress).toBe(-1);
  await eventually(async () => (await status()).progress === 100);
});

test.each(VERSIONS)('a source that does not compile is taken: a %s', async (version) => {
  client = connect((await open({ version })).url);
  await client.createProjection('fine', counting());
  await client.createProjection('counts', 'fromCategory(');
  if (version === '23.10') {
    // It spoils the list for all until it is updated.
    expect(await failure(status())).toMatchObject({ kind: 'UnknownError', type: 'unknown' });
    expect(await failure(client.listProjections())).toMatchObject({ type: 'unknown' });
  } else {
    expect((await status()).status).toMatch(/^Faulted/);
    expect(await listed()).toEqual(expect.arrayContaining(['fine', 'counts']));
  }
  const asked = client.getProjectionState('counts', { partition: 'account-1', deadline: 200 });
  expect(await failure(asked)).toMatchObject({ type: 'deadline-exceeded' });
  await client.updateProjection('counts', counting());
  expect(await listed()).toEqual(expect.arrayContaining(['fine', 'counts']));
});

test('the list names the five projections of the system as well', async () => {
  const standard = ['$by_category', '$by_correlation_id', '$by_event_type', '$stream_by_category', '$streams'];
  expect((await listed()).sort()).toEqual(standard);
  await client.createProjection('counts', counting());
  expect((await listed()).sort()).toEqual([...standard, 'counts']);
  expect(await client.getProjectionStatus('$by_category')).toMatchObject({ status: 'Running' });
});

test.each(VERSIONS)('a projection that is not there: a %s', async (version) => {
  client = connect((await open({ version })).url);
  const notFound =
    version === '23.10'
      ? { kind: 'UnknownError', type: 'unknown', message: expect.stringContaining('NotFound') }
      : { kind: 'NotFoundError', type: 'not-found', code: 5 };
  const asked = [
    status(),
    state(),
    client.updateProjection('counts', counting()),
    client.resetProjection('counts'),
    client.enableProjection('counts'),
    client.disableProjection('counts'),
    client.deleteProjection('counts'),
  ];
  for (const error of await Promise.all(asked.map(failure))) expect(error).toMatchObject(notFound);
});
