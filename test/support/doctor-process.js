/** doctor in a process of its own, which a busy machine may keep from answering for longer than a command takes. */
import { examine } from '../../src/doctor/doctor.js';
import { createLogger } from '../../src/observability/logger.js';
import { readConfig } from '../../src/settings/read-config.js';

const WITHIN_MS = 120_000;

for (const result of await examine(readConfig(), createLogger('silent'), WITHIN_MS))
  console.log(JSON.stringify(result));
