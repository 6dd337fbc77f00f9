import { readdirSync, writeFileSync } from 'node:fs';
import { openDeliveriesView, openFormerView } from '../../../src/adapters/sqlite/view/deliveries-view.js';
import type { DeliveriesView } from '../../../src/ports/deliveries-view.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import { query, VIEW_SIZE } from '../../support/scenes/deliveries-view-subject.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';
import { delivered, delivery } from '../../support/scenes/view-follower-fixture.js';
import { viewInThisThread } from '../../support/scenes/view-in-this-thread.js';

/** Shapes of three releases: the last one's questions can be asked of the second. */
const [FIRST, BEFORE, LAST] = [3, 4, 5];

let folder: ReturnType<typeof temporaryDirectory>;
let view: DeliveriesView;
beforeEach(() => {
  folder = temporaryDirectory();
});
afterEach(async () => {
  await view.close();
  folder.remove();
});

async function opened(shape: number): Promise<void> {
  view = await viewInThisThread(
    folder.path,
    {},
    {
      openFormer: () => openFormerView(folder.path, VIEW_SIZE, shape, BEFORE),
      open: () => openDeliveriesView(folder.path, () => undefined, VIEW_SIZE, shape),
    },
  );
}

async function adds(from: number, to: number): Promise<void> {
  const records = Array.from({ length: to - from }, (_, n) => {
    const place = { topic: 'deliveries', partition: 0, offset: from + n, timestamp: NOW + from + n } as const;
    return { ...place, key: null, value: delivered(delivery(from + n)).value, headers: [] };
  });
  await view.add(records, new Map([['deliveries', new Map([[0, { offset: to, before: null }]])]]));
}

/** A release of this shape has read 10 deliveries. */
async function left(shape: number): Promise<void> {
  await opened(shape);
  await adds(0, 10);
  await view.close();
}

const shown = async () => (await view.of(ACCOUNT).page(query())).deliveries.length;
const position = async () => (await view.positions('deliveries')).get(0)?.offset;
const files = () => readdirSync(folder.path).filter((name) => name.endsWith('.sqlite'));
const fileOf = (shape: number) => `deliveries-view-${shape}.sqlite`;

test('the view of the shape before answers until the new one has caught up, a stop in between or not', async () => {
  await left(BEFORE);
  await opened(LAST);
  const { id } = view;
  expect([await shown(), await position()]).toEqual([10, undefined]);
  await adds(0, 4);
  await view.close();
  await opened(LAST);
  expect([view.id, await shown(), await position()]).toEqual([id, 10, 4]);
  await adds(4, 12);
  expect([await shown(), files()]).toEqual([10, [fileOf(BEFORE), fileOf(LAST)]]);
  await view.answerAlone();
  expect([await shown(), files()]).toEqual([12, [fileOf(LAST)]]);
});

test('discard throws both away', async () => {
  await left(BEFORE);
  await opened(LAST);
  await view.discard();
  expect(files()).toEqual([]);
});

test.each([
  ['that lacks what is asked today', () => left(FIRST)],
  ['of a later release', () => left(LAST + 1)],
  ['without a shape in its name', async () => writeFileSync(`${folder.path}/deliveries-view.sqlite`, '')],
])('a file %s is deleted at the start, and does not answer', async (_, leave) => {
  await leave();
  expect(files()).toHaveLength(1);
  await opened(LAST);
  expect([await shown(), files()]).toEqual([0, [fileOf(LAST)]]);
});
