import fs, { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger, logDestination } from '../../src/observability/logger.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

let folder: ReturnType<typeof temporaryDirectory>;
let path: string;
let fd: number;

beforeEach(() => {
  folder = temporaryDirectory();
  path = join(folder.path, 'log');
  fd = openSync(path, 'a');
});

afterEach(() => {
  closeSync(fd);
  folder.remove();
});

const written = () => readFileSync(path, 'utf8');

test('a line is one JSON object, with the time and no host', () => {
  const logger = createLogger('info', logDestination({ fd }));
  logger.debug('not at this level');
  logger.warn({ accountId: 42, err: new Error('no room') }, 'it failed');
  const line = JSON.parse(written()) as Record<string, unknown>;
  expect(line).toMatchObject({ level: 40, accountId: 42, msg: 'it failed', err: { message: 'no room' } });
  expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(line).not.toHaveProperty('hostname');
});

test('on a terminal it is for people', () => {
  createLogger('info', logDestination({ isTTY: true, fd })).warn({ accountId: 42 }, 'it failed');
  expect(written()).toMatch(/WARN.*it failed.*42/);
  expect(written()).not.toMatch(/^\{/m);
});

function refuseWrites(code: string): { restore(): void } {
  const write = jest.spyOn(fs, 'writeSync').mockImplementation(() => {
    throw Object.assign(new Error('not written'), { code });
  });
  return { restore: () => write.mockRestore() };
}

test('on a full disk it drops lines instead of throwing, and writes again once there is room', () => {
  const logger = createLogger('info', logDestination({ fd }));
  const full = refuseWrites('ENOSPC');
  for (let n = 0; n < 2_000; n += 1) logger.info('x'.repeat(1_000));
  full.restore();
  logger.info('there is room');
  logger.info('the last line');
  expect(written()).toContain('the last line');
  expect(written().length).toBeLessThan(1024 ** 2 + 10_000);
});
