/** Native ES modules (`npm test` has the Node flag), TypeScript by swc: no type check here, `make lint` does that. */
export default {
  testEnvironment: '<rootDir>/test/support/leak-guard.js',
  roots: ['<rootDir>/test'],
  globalSetup: '<rootDir>/test/support/kafka-for-all.js',
  globalTeardown: '<rootDir>/test/support/kafka-after-all.js',
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  reporters: ['default', '<rootDir>/test/support/summary-reporter.js'],
  testTimeout: 20_000,
  maxWorkers: 2,
  // Also what makes jest use workers for a single file, where the leak guard sees nothing of jest's own.
  workerIdleMemoryLimit: '1GB',
};
