/** What nothing imports: files, exports and packages. Run by `make lint`. What a test alone imports is left alone. */
export default {
  entry: [
    'src/main.ts',
    'src/composition/view-thread.ts',
    'src/console/main.tsx',
    // Run by make, and as processes of their own.
    'scripts/*.js',
    'bench/{run,against}.ts',
    'bench/{processes,rows}/*.ts',
    'bench/support/profile.js',
    'test/support/servers/sqlite-child-process.js',
    'test/architecture/count-runs.js',
    'test/services/kafka/kafka.js',
    'test/runner/{nightly,coverage}.js',
    'test/architecture/planted/*.planted.ts',
    // Read and sent to EventStoreDB, which calls what they define.
    'projections/*.js',
    'docs/{console,producers,receivers}/*.mjs',
  ],
  project: ['**/*.{js,cjs,mjs,ts,tsx}'],
  // Run from node_modules/.bin.
  ignoreDependencies: ['@biomejs/biome', '@redocly/cli', 'cloudevents', 'dependency-cruiser'],
  ignoreBinaries: ['cc', 'mvn', 'php', 'promtool'],
};
