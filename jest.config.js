/** Tests run in Node's own module system (test/runner). TypeScript by swc: no type check here, `make lint` does that. */
import { availableParallelism } from 'node:os';
import { LEFT_TO_TEST_ALL } from './test/runner/left-to-test-all.js';

/** Set by `make test`. */
const leftOut = process.env.TEST_LESS ? LEFT_TO_TEST_ALL.map((file) => `<rootDir>/test/${file}`) : [];

const project = {
  rootDir: import.meta.dirname,
  runtime: '<rootDir>/test/runner/runtime.js',
  testEnvironment: '<rootDir>/test/runner/leak-guard.js',
  injectGlobals: false,
  roots: ['<rootDir>/test'],
  transform: {},
  testPathIgnorePatterns: ['/node_modules/', ...leftOut],
};

const withKafka = {
  globalSetup: '<rootDir>/test/support/servers/kafka-for-all.js',
  globalTeardown: '<rootDir>/test/support/servers/kafka-after-all.js',
};

/**
 * Folders of test/, by what their tests stand on: faults on processes that are harmed, e2e on processes, contract on what
 * others speak to: ports, servers, the HTTP API. What is in none of them stands on nothing but its own process.
 */
const FOLDERS = {
  faults: ['faults'],
  e2e: ['e2e', 'architecture'],
  contract: ['contract', 'adapters', 'services/eventstoredb', 'http'],
};

/** In each run the way of one failed payment, on the service itself; the others of test/console with TEST_ALL alone. */
const leftToTestAll = process.env.TEST_ALL ? [] : ['<rootDir>/test/console/(?!real-service)'];

const others = [...Object.values(FOLDERS).flat(), 'console'];

export default {
  projects: [
    ...Object.entries(FOLDERS).map(([displayName, folders]) => ({
      ...project,
      ...withKafka,
      displayName,
      testMatch: folders.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
    })),
    {
      ...project,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...others.map((folder) => `<rootDir>/test/${folder}/`)],
    },
    {
      ...project,
      displayName: 'browser',
      testMatch: ['<rootDir>/test/console/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...leftToTestAll],
    },
    // They leak and fail on purpose: run by test/architecture/runner.test.ts alone.
    ...(process.env.PLANTED ? [{ ...project, displayName: 'planted', testMatch: ['**/*.planted.ts'] }] : []),
  ],
  // Besides that of a project.
  globalSetup: '<rootDir>/test/support/servers/certificates-for-all.js',
  reporters: ['default', '<rootDir>/test/runner/summary-reporter.js'],
  testSequencer: '<rootDir>/test/runner/longest-first.js',
  // Detects a hang: tests wait for conditions (test/support/clocks/eventually.ts). The slowest test takes a minute alone, in the
  // nightly parts six. Files set no limit of their own, and a busy machine extends this one (test/runner/globals.js).
  testTimeout: process.env.TEST_NIGHTLY ? 3_600_000 : 600_000,
  // Most tests wait, for processes and servers, more than they work.
  // Measured for test-all on two cores: 97 core-seconds idle with four, 15 with six.
  maxWorkers: 2 * availableParallelism() + 2,
  // Also what makes jest use workers for a single file, where the leak guard sees nothing of jest's own.
  workerIdleMemoryLimit: '1GB',
};
