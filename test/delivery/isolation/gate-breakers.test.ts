import type { EndpointSignal } from '../../../src/delivery/isolation/circuit-breaker.js';
import type { GateParts } from '../../../src/delivery/isolation/endpoint-gate.js';
import { GateScene, type GateVisitors } from '../../support/gate-visitors.js';

const SECOND = 1_000;

let scene: GateScene;
let visitors: GateVisitors;

function open(parts: Partial<GateParts> = {}): void {
  scene = new GateScene(parts);
  visitors = scene.visitors;
}
beforeEach(() => open());

describe('a breaker that opens', () => {
  const fails = (times: number, key = 'a', signal: EndpointSignal = 'failed') => visitors.attempts(key, signal, times);

  test('refuses all in its line, and all that come; other URLs and accounts go on', async () => {
    await visitors.attempts('a', 'succeeded', 3);
    await fails(9);
    await visitors.come('a', 100);
    await visitors.leave('failed');
    expect(visitors.why()).toEqual(Array(99).fill('open'));
    await visitors.come('a');
    expect(visitors.refused).toHaveLength(100);
    for (const key of ['b', '2/a']) await visitors.come(key);
    expect(visitors.entered.slice(-2)).toEqual(['b', '2/a']);
  });

  test('by 30 s of nothing but failures, too', async () => {
    await fails(1);
    await scene.goOn(30 * SECOND);
    await fails(1);
    await visitors.come('a');
    expect(visitors.why()).toEqual(['open']);
  });

  test('lets one in when the pause is over, and all when that one succeeded', async () => {
    await fails(10);
    await scene.goOn(5 * SECOND);
    await visitors.come('a', 5);
    expect(visitors.inside).toHaveLength(1);
    expect(visitors.refused).toHaveLength(4);
    expect(visitors.inside[0]?.ended('succeeded')).toBe('closed');
    await visitors.come('a');
    expect(visitors.refused).toHaveLength(4);
  });

  test('lets another in where its probe left without an attempt, or was refused in the line', async () => {
    await fails(10);
    await scene.goOn(5 * SECOND);
    await visitors.come('a');
    visitors.inside.shift()?.leave();
    for (let n = 0; n < 8; n += 1) await visitors.come(`hangs${n}`);
    await scene.goOn(SECOND);
    await visitors.come('a');
    expect(visitors.enteredOf('a')).toBe(11);
    await scene.goOn(6 * SECOND);
    expect(visitors.why()).toEqual(['line-full']);
    await visitors.leave('unknown', 'hangs0');
    await visitors.come('a');
    expect(visitors.enteredOf('a')).toBe(12);
  });

  test('for failures to connect is that of the host: another path makes no new one', async () => {
    for (let n = 0; n < 10; n += 1) await fails(1, `path${n}`, 'unreachable');
    await visitors.come('another');
    expect(visitors.why()).toEqual(['open']);
    await visitors.come('2/another');
    expect(visitors.entered.at(-1)).toBe('2/another');
  });

  test('is that of the host after two failures of TLS, though another URL of it answers between', async () => {
    await fails(1, 'path0', 'tls-failed');
    await fails(1, 'path1', 'failed');
    await fails(1, 'path2', 'tls-failed');
    await visitors.come('another');
    expect(visitors.why()).toEqual(['open']);
  });

  test('and any answer of the host closes it', async () => {
    for (let n = 0; n < 9; n += 1) await fails(1, `path${n}`, 'unreachable');
    await fails(1, 'path0', 'failed');
    await fails(9, 'path1', 'unreachable');
    await visitors.come('another');
    expect(visitors.refused).toEqual([]);
  });

  test('counts an attempt that ends twice once', async () => {
    await fails(8);
    await visitors.come('a');
    const [one] = visitors.inside;
    expect([one?.ended('failed'), one?.ended('failed'), one?.ended('failed')]).toEqual([null, null, null]);
    one?.leave();
    await visitors.come('a');
    expect(visitors.refused).toEqual([]);
  });
});
