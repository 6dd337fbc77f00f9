/** Projections on the server, as measured of a real one. */
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
  })`;

const count = (stream: string, number: number) =>
  client.appendToStream(stream, jsonEvent({ type: 'Counted', data: { number } }));
const state = (partition = 'account-1') => client.getProjectionState('counts', { partition });
const status = () => client.getProjectionStatus('counts');
const stateIs = (expected: unknown) =>
  eventually(async () => JSON.stringify(await state()) === JSON.stringify(expected));
const UNTYPED = { kind: 'UnknownError', type: 'unknown' };

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
    expect(await status()).toMatchObject({ name: 'counts', status: 'Running', stateReason: '', progress: 100 });
  });

  test('keeps place and states when updated, begins anew when reset, and its source is in a system stream', async () => {
    const changed = counting('state.count += 10 * event.data.number');
    await client.updateProjection('counts', changed);
    await count('account-1', 1);
    await stateIs({ count: 12 });
    await client.resetProjection('counts');
    await stateIs({ count: 30 });
    const written = await collect(client.readStream('$projections-counts'));
    const updates = written.filter(({ event }) => event?.type === '$ProjectionUpdated');
    expect(updates.at(-1)?.event?.data).toMatchObject({ query: changed });
  });

  test('that is stopped folds nothing, has no states once it is reset, and folds again once it is enabled', async () => {
    await client.disableProjection('counts');
    await count('account-1', 1);
    expect(await state()).toEqual({ count: 2 });
    await client.resetProjection('counts');
    await stateIs({});
    expect(await status()).toMatchObject({ status: 'Stopped' });
    await client.enableProjection('counts');
    await stateIs({ count: 3 });
  });

  test('says Running, and stands still while $by_category is stopped', async () => {
    await client.disableProjection('$by_category');
    await count('account-1', 5);
    await eventually(async () => (await client.getProjectionStatus('$by_category')).status === 'Stopped');
    expect(await status()).toMatchObject({ status: 'Running' });
    expect(await state()).toEqual({ count: 2 });
    await client.enableProjection('$by_category');
    await stateIs({ count: 7 });
  });
});

test('a handler that throws faults the projection until it is mended, and then it goes on there', async () => {
  await client.createProjection('counts', counting(`if (event.data.number === 1) throw new Error("broken")`));
  for (const number of [5, 1]) await count('account-1', number);
  await eventually(async () => (await status())?.status === 'Faulted (Enabled)');
  expect((await status())?.stateReason).toMatch(/broken/);
  expect(await state()).toEqual({ count: 0 });
  await client.updateProjection('counts', counting());
  await stateIs({ count: 1 });
});

test.each(VERSIONS)('a %s takes a source that does not compile, and never answers about its state', async (version) => {
  client = connect((await open({ version })).url);
  await client.createProjection('counts', 'fromCategory(');
  if (version === '23.10') expect(await failure(status())).toMatchObject(UNTYPED);
  else expect((await status()).status).toMatch(/^Faulted/);
  const asked = client.getProjectionState('counts', { partition: 'account-1', deadline: 200 });
  expect(await failure(asked)).toMatchObject({ type: 'deadline-exceeded' });
  await client.updateProjection('counts', counting());
  expect((await status()).status).toBe('Running');
});

test.each(VERSIONS)('a %s says of each call about a projection that is not there that it is not', async (version) => {
  client = connect((await open({ version })).url);
  const notFound = {
    '23.10': { ...UNTYPED, message: expect.stringContaining('NotFound') },
    '25': { kind: 'NotFoundError', type: 'not-found', code: 5 },
  };
  const changes = [
    client.updateProjection('counts', counting()),
    client.resetProjection('counts'),
    client.enableProjection('counts'),
    client.disableProjection('counts'),
  ];
  for (const error of await Promise.all([...changes, status(), state()].map(failure)))
    expect(error).toMatchObject(notFound[version]);
});
