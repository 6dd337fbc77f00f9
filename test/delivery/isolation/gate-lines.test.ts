import type { GateParts } from '../../../src/delivery/isolation/endpoint-gate.js';
import { GateScene, type GateVisitors } from '../../support/gate-visitors.js';

const SECOND = 1_000;
const MIB = 1024 * 1024;

let scene: GateScene;
let visitors: GateVisitors;

function open(parts: Partial<GateParts> = {}): void {
  scene = new GateScene(parts);
  visitors = scene.visitors;
}
beforeEach(() => open());

describe('the line', () => {
  test('takes 1,000 at once for a new endpoint, and all get their turn', async () => {
    await visitors.come('a', 1_001);
    expect(visitors.refused).toHaveLength(0);
    for (let n = 0; n < 1_001; n += 1) await visitors.leave();
    expect(visitors.entered).toHaveLength(1_001);
  });

  test('that is full refuses at once, and takes again when it has room', async () => {
    await visitors.come('a', 1_002);
    expect(visitors.refused).toMatchObject([{ why: 'line-full' }]);
    await visitors.leave('unknown');
    await visitors.come('a');
    expect(visitors.refused).toHaveLength(1);
  });

  test('says of an endpoint whether it takes deliveries: then those need not wait long', async () => {
    await visitors.attempts('a', 'succeeded', 1);
    await visitors.come('a', 5_000);
    expect(visitors.refused[0]).toMatchObject({ why: 'line-full', isTaking: true });
  });

  test('says so of one that was never tried, for which all places were taken, and not of one that hangs', async () => {
    open({ total: 1 });
    await visitors.attempts('1/well', 'succeeded', 1);
    await visitors.come('1/well');
    visitors.inside[0]?.ended('succeeded');
    await visitors.come('2/new');
    await scene.goOn(5 * SECOND);
    expect(visitors.refused).toMatchObject([{ key: '2/new', why: 'line-full', isTaking: true }]);
    await visitors.leave();
    await visitors.come('3/hangs', 2);
    await scene.goOn(5 * SECOND);
    expect(visitors.refused.at(1)).toMatchObject({ key: '3/hangs', isTaking: false });
  });

  test('of an endpoint whose first attempt hangs is cut to what it would take', async () => {
    await visitors.come('a', 500);
    await scene.goOn(SECOND);
    expect(visitors.refused).toHaveLength(500 - 1 - 4);
    expect(visitors.inside).toHaveLength(1);
  });

  test('of a quick one is not cut where one attempt of many is slow', async () => {
    await visitors.attempts('a', 'succeeded', 20);
    await visitors.come('a', 900);
    await scene.goOn(500);
    for (let n = 0; n < 15; n += 1) await visitors.leave('succeeded');
    await scene.goOn(500);
    expect(visitors.refused).toEqual([]);
    await visitors.leave('failed');
    expect(visitors.refused).toEqual([]);
  });

  test('of an endpoint that takes deliveries is kept where some fail, and where it is slow', async () => {
    for (let n = 0; n < 3; n += 1) {
      await visitors.come('a');
      await scene.goOn(1_500);
      await visitors.leave('succeeded');
    }
    await visitors.come('a', 100);
    await visitors.leave('failed');
    await scene.goOn(30 * SECOND);
    expect(visitors.refused).toEqual([]);
    await visitors.come('a', 50);
    expect(visitors.refused.length).toBeGreaterThan(0);
    expect(visitors.refused[0]).toMatchObject({ why: 'line-full', isTaking: true });
  });

  test('of a URL that times out holds nobody', async () => {
    await visitors.come('a');
    await scene.goOn(15 * SECOND);
    await visitors.leave('failed');
    await visitors.come('a', 3);
    expect(visitors.inside).toHaveLength(1);
    expect(visitors.why()).toEqual(['line-full', 'line-full']);
  });

  test('may be full by the bytes it holds: 16 MiB, and it takes again when it holds less', async () => {
    await visitors.come('a', 18, MIB);
    expect(visitors.why()).toEqual(['line-full']);
    await visitors.leave();
    await visitors.come('a', 1, MIB);
    expect(visitors.refused).toHaveLength(1);
  });

  test('where all lines hold 32 MiB, is full at its share of them, and a new one takes something still', async () => {
    for (const key of ['1/a', '2/b', '3/c']) await visitors.come(key, 12, MIB);
    await visitors.come('1/a', 1, MIB);
    expect(visitors.why()).toEqual(['line-full']);
    await visitors.come('5/e', 2, MIB);
    expect(visitors.refused).toHaveLength(1);
  });

  test('counts its bytes out again', async () => {
    await visitors.come('a', 5, MIB);
    expect(scene.gate.state).toMatchObject({ waiting: 4, waitingBytes: 4 * MIB });
    for (let n = 0; n < 5; n += 1) await visitors.leave();
    expect(scene.gate.state).toEqual({ active: 0, waiting: 0, waitingBytes: 0, breakersOpen: 0 });
  });
});

test('what waits for this process: what its endpoint would take within so long', async () => {
  await visitors.attempts('quick', 'succeeded', 20);
  await visitors.come('slow');
  await scene.goOn(900);
  await visitors.leave('succeeded');
  await visitors.come('slow', 102, 10);
  await visitors.come('quick', 116, 10);
  await visitors.come('new', 51, 10);
  expect(scene.gate.waiting).toBe(250);
  expect(scene.gate.waitingForUs(9 * SECOND)).toEqual({ waiting: 100 + 20, waitingBytes: 1_200 });
});
