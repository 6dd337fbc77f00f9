import { keptMs } from '../../src/composition/retention.js';
import { readConfig } from '../../src/settings/read-config.js';

test('done records are kept for BROKER_RETENTION and the longest retry delay, or forever', () => {
  const RETRY_SCHEDULE = '5s,2h';
  expect(keptMs(readConfig({ BROKER_RETENTION: '1h', RETRY_SCHEDULE }))).toBe(3 * 3_600_000);
  expect(keptMs(readConfig({ BROKER_RETENTION: '0', RETRY_SCHEDULE }))).toBeNull();
});
