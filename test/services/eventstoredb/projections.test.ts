/** Projections on the server, as measured of a real one. */
import { jsonEvent } from '@eventstore/db-client';
import { eventually } from '../../support/eventually.js';
import { collect, harness } from './harness.js';

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
