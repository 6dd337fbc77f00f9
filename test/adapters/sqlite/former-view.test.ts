import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDeliveriesView, openFormerView } from '../../../src/adapters/sqlite/view/deliveries-view.js';
import type { DeliveriesView, ViewCore, ViewRecord } from '../../../src/ports/deliveries-view.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import { query, VIEW_SIZE } from '../../support/scenes/deliveries-view-subject.js';
import { damageFile } from '../../support/scenes/sqlite-subjects.js';
import { delivered, delivery } from '../../support/scenes/view-follower-fixture.js';
import { viewInThisThread } from '../../support/scenes/view-in-this-thread.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';

/** Of the release before, and of this one, whose questions it can answer. */
const [BEFORE, NOW_USED] = [3, 4];

let folder: ReturnType<typeof temporaryDirectory>;
const opened: { close(): unknown }[] = [];
beforeEach(() => {
  folder = temporaryDirectory();
});
afterEach(async () => {
  for (const view of opened.splice(0)) await view.close();
  folder.remove();
});

const records = (from: number, to: number): ViewRecord[] =>
  Array.from({ length: to - from }, (_, n) => {
    const place = { topic: 'deliveries', partition: 0, offset: from + n, timestamp: NOW + from + n } as const;
    return { ...place, key: null, value: delivered(delivery(from + n)).value, headers: [] };
  });

const reached = (offset: number) => new Map([['deliveries', new Map([[0, { offset, before: null }]])]] as const);

async function release(shape: number, answersSince = BEFORE): Promise<DeliveriesView> {
  const its = {
    openFormer: (): ViewCore | null => openFormerView(folder.path, VIEW_SIZE, shape, answersSince),
    open: () => openDeliveriesView(folder.path, () => undefined, VIEW_SIZE, shape),
  };
  const view = await viewInThisThread(folder.path, {}, its);
  opened.push(view);
  return view;
}

/** The release before has read 10 deliveries. */
async function before(shape = BEFORE): Promise<void> {
  const view = await release(shape);
  await view.add(records(0, 10), reached(10));
  await view.close();
}

const shown = async (view: DeliveriesView) => (await view.of(ACCOUNT).page(query())).deliveries.length;
const files = () => readdirSync(folder.path).filter((name) => name.endsWith('.sqlite'));
const fileOf = (shape: number) => `deliveries-view-${shape}.sqlite`;

test('the view of the shape before answers until the new one has caught up; then it is deleted, and the new one answers', async () => {
  await before();
  const view = await release(NOW_USED);
  expect([await shown(view), await view.positions('deliveries')]).toEqual([10, new Map()]);
  await view.add(records(0, 4), reached(4));
  expect([await shown(view), (await view.positions('deliveries')).get(0)?.offset]).toEqual([10, 4]);
  await view.add(records(4, 12), reached(12));
  expect([await shown(view), files()]).toEqual([10, [fileOf(BEFORE), fileOf(NOW_USED)]]);
  await view.answerAlone();
  expect([await shown(view), files()]).toEqual([12, [fileOf(NOW_USED)]]);
});

test('after a kill in between both go on where they were', async () => {
  await before();
  const killed = await release(NOW_USED);
  await killed.add(records(0, 4), reached(4));
  await killed.close();
  const view = await release(NOW_USED);
  expect([await shown(view), (await view.positions('deliveries')).get(0)?.offset, view.id]).toEqual([10, 4, killed.id]);
  await view.add(records(4, 10), reached(10));
  await view.answerAlone();
  expect([await shown(view), files()]).toEqual([10, [fileOf(NOW_USED)]]);
});

test('discard throws both away', async () => {
  await before();
  await (await release(NOW_USED)).discard();
  expect(files()).toEqual([]);
  expect(await shown(await release(NOW_USED))).toBe(0);
});

test.each([
  ['that lacks what is asked today', () => before(BEFORE - 1)],
  ['of a later release', () => before(NOW_USED + 1)],
  [
    'from before files had their shape in their name',
    async () => writeFileSync(join(folder.path, 'deliveries-view.sqlite'), ''),
  ],
  [
    'that is damaged',
    async () => {
      await before();
      damageFile(join(folder.path, fileOf(BEFORE)), 0);
    },
  ],
])('a file %s is deleted at the start, and does not answer', async (_, left) => {
  await left();
  expect(files()).toHaveLength(1);
  expect(await shown(await release(NOW_USED))).toBe(0);
  expect(files()).toEqual([fileOf(NOW_USED)]);
});

test('the newest of several shapes answers, and the others are deleted', async () => {
  for (const shape of [BEFORE, BEFORE + 1]) {
    const view = openDeliveriesView(folder.path, () => undefined, VIEW_SIZE, shape);
    view.close();
  }
  await release(BEFORE + 2);
  expect(files()).toEqual([fileOf(BEFORE + 1), fileOf(BEFORE + 2)]);
  expect(existsSync(join(folder.path, fileOf(BEFORE)))).toBe(false);
});
