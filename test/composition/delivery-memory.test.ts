/** What a process may hold for its deliveries and their endpoints, by the memory that it has. */
import { totalmem } from 'node:os';
import { deliveryMemory } from '../../src/composition/delivery-memory.js';
import { startApi } from '../support/scenes/api-fixture.js';
import { recordingLogger } from '../support/scenes/recording-logger.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

it('is what the setting says, where four times as much is there', () => {
  expect(deliveryMemory(256 * MIB, GIB).bytes).toBe(256 * MIB);
  expect(deliveryMemory(512 * MIB, 64 * GIB).bytes).toBe(512 * MIB);
});

it('is a quarter of what is there, where that is less', () => {
  expect(deliveryMemory(256 * MIB, 400 * MIB).bytes).toBe(100 * MIB);
});

it('is no more than this process has', () => {
  expect(deliveryMemory(Number.MAX_SAFE_INTEGER).bytes).toBeLessThanOrEqual(totalmem() / 4);
});

it('is enough for 3,150 receivers with a connection each, and for 65,536 that are remembered', () => {
  const { idleConnections, tlsSessions, endpoints, waitingBytes } = deliveryMemory(256 * MIB, GIB);
  expect({ idleConnections, tlsSessions, endpoints, waitingBytes }).toEqual({
    idleConnections: 3_276,
    tlsSessions: 8_192,
    endpoints: 65_536,
    waitingBytes: 32 * MIB,
  });
});

it('shrinks in all its parts', () => {
  const [small, large] = [deliveryMemory(64 * MIB, GIB), deliveryMemory(256 * MIB, GIB)];
  for (const [part, value] of Object.entries(small)) {
    expect([part, value]).toEqual([part, large[part as keyof typeof large] / 4]);
  }
});

it('is logged at the start, with what it is enough for', async () => {
  const logger = recordingLogger();
  const api = await startApi({ DELIVERY_MEMORY: '1MiB' }, logger);
  await api.close();
  const said = expect.objectContaining({ bytes: MIB, idleConnections: 12 });
  expect(logger.infos).toContainEqual([said, 'memory for deliveries and their endpoints']);
});
