/**
 * What may import what: the table of the architecture, kept by `make lint`.
 *
 * A folder's files may import one another, and what stands beside the folder here; composition/, main.ts and cli/ anything.
 * time/, limits/, host/ and types of observability/ (the logger, the metrics) may be imported by every file that is not pure, types of the
 * pure files, which say what an account's webhooks are, by read-model/, delivery/ and audit/.
 */

/** The files of webhooks/ that load, append and make ids; every other one is pure, and may import pure ones only. */
const COMMAND_SIDE =
  '^src/webhooks/(handle-command|command-deps|account-buckets|account-command-queue|webhook-ids|envelope)[.]ts$';
const PURE =
  '^src/webhooks/(?!(handle-command|command-deps|account-buckets|account-command-queue|webhook-ids|envelope)[.]ts$)';
/** The folders that may import the pure files' types. */
const KNOWS_TYPES = ['read-model', 'delivery', 'audit'];

/** What the records of delivery/ look like, and where they are. */
const RECORD_FORMATS = [
  ...['delivery', 'record-place', 'topics', 'log/delivery-log', 'log/log-record'],
  ...['dead-letters', 'again/request', 'retry/bundle'],
].map((file) => `delivery/${file}`);

const MAY_IMPORT = {
  ports: ['schema'],
  secrets: [],
  endpoints: [],
  observability: ['ports/broker'],
  host: [],
  limits: [],
  accounts: ['ports', 'read-model', 'secrets', 'webhooks'],
  'read-model': ['package-file', 'ports', 'webhooks/events', 'webhooks/command-deps', 'webhooks/envelope'],
  payments: ['ports', 'webhooks/limits', 'settings/invalid-config'],
  delivery: [
    ...['ports', 'payments', 'read-model', 'secrets', 'endpoints', 'webhooks/handle-command', 'webhooks/limits'],
    ...['settings/invalid-config', 'schema'],
  ],
  audit: ['ports', 'payments', 'read-model', 'webhooks/events', ...RECORD_FORMATS],
  http: [
    ...['webhooks', 'accounts', 'secrets', 'endpoints', 'read-model', 'ports'],
    ...['payments', 'delivery/record-place', 'settings/parsers', 'schema'],
  ],
};

/** Package -> the only files that may import it. A driver stays behind its port, a library in its corner. */
const PACKAGE_PLACES = {
  'better-sqlite3': ['src/adapters/sqlite/'],
  kafkajs: ['src/adapters/kafka/'],
  '@eventstore/db-client': ['src/adapters/eventstoredb/'],
  '(@types/)?koa': ['src/http/'],
  '@koa/router': ['src/http/'],
  got: ['src/cli/'],
  undici: ['src/endpoints/', 'src/delivery/'],
  jose: ['src/accounts/'],
  'pino(-pretty)?': ['src/observability/'],
  '@opentelemetry': ['src/observability/otlp-tracing[.]ts$'],
  commander: ['src/cli/'],
};

/** What the console's page is made of; it is bundled, so these are development packages. */
const PAGE_PACKAGES = '(preact|@preact/signals|preact-iso)';

const own = (folder) => `^src/${folder}/`;
/** A folder, or a file without its ending. */
const within = (place) => `^src/${place}(/|[.]ts$)`;

const folderRules = Object.entries(MAY_IMPORT).map(([folder, others]) => ({
  name: `${folder}-imports`,
  comment: `${folder}/ may import ${others.join(', ') || 'no other folder'}`,
  severity: 'error',
  from: { path: own(folder) },
  to: {
    path: '^(src|projections)/',
    pathNot: [
      own(folder),
      own('observability'),
      own('time'),
      own('limits'),
      own('host'),
      ...others.map(within),
      ...(KNOWS_TYPES.includes(folder) ? [PURE] : []),
    ],
  },
}));

const packageRules = Object.entries(PACKAGE_PLACES).map(([name, places]) => ({
  name: `only-here-${name.replace(/\(.*?\)\??/g, '')}`,
  comment: `only ${places.join(', ')} may import it`,
  severity: 'error',
  from: { path: '^src/', pathNot: places.map((place) => `^${place}`) },
  to: { path: `^(node_modules/)?${name}(/|$)` },
}));

module.exports = {
  forbidden: [
    ...folderRules,
    ...packageRules,
    {
      name: 'pure',
      comment: 'webhooks/ decides and folds without a clock, a store or a package; the command side does the rest',
      severity: 'error',
      from: { path: PURE },
      to: { pathNot: PURE },
    },
    {
      name: 'command-side-imports',
      comment: 'handle-command and its helpers may import ports, time, limits and webhooks',
      severity: 'error',
      from: { path: COMMAND_SIDE },
      to: {
        path: '^(src|projections)/',
        pathNot: [own('webhooks'), own('observability'), own('time'), own('limits'), within('ports')],
      },
    },
    {
      name: 'pure-types-only',
      comment: 'the views and the deliveries know what a webhook is, and leave deciding to webhooks/',
      severity: 'error',
      from: { path: KNOWS_TYPES.map(own) },
      to: {
        path: PURE,
        pathNot: ['webhooks/events', 'webhooks/limits'].map(within),
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'observability-types-only',
      comment: 'the parts are handed their logger and metrics by composition/app.ts: import the type, not the thing',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/observability/',
          '^src/cli/',
          own('settings'),
          '^src/composition/(app|open-tracing)[.]ts$',
          '^src/main[.]ts$',
        ],
      },
      to: {
        path: '^src/observability/',
        // Two headers' format: nothing that app.ts would make.
        pathNot: '^src/observability/tracing[.]ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'adapters-imports',
      comment: 'an adapter may import ports, adapters/common, time and host, never another adapter',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: {
        path: '^(src|projections)/',
        pathNot: [
          ...['^src/adapters/$1/', '^src/time/', '^src/adapters/common/', '^src/host/'],
          ...[own('observability'), own('ports')],
        ],
      },
    },
    {
      name: 'settings-imports',
      comment:
        'settings/ may ask the folders that import no other what a good value is, and knows what a delay and an event type are',
      severity: 'error',
      from: { path: own('settings') },
      to: {
        path: '^(src|projections)/',
        pathNot: [
          own('settings'),
          ...['secrets', 'endpoints', 'observability', 'delivery/retry/retry-schedule', 'host', 'webhooks/limits'].map(
            within,
          ),
        ],
      },
    },
    {
      name: 'projections-import-nothing',
      comment: 'a projection runs inside EventStoreDB too, where there is nothing to import',
      severity: 'error',
      from: { path: '^projections/' },
      to: {},
    },
    {
      name: 'no-development-packages',
      comment: 'what src/ runs with is in dependencies',
      severity: 'error',
      from: { path: '^src/', pathNot: own('console') },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'console-imports',
      comment:
        'the page knows the service by its calls alone, and shows the documented receivers, causes and event types',
      severity: 'error',
      from: { path: own('console'), pathNot: '^src/console/api/shapes[.]ts$' },
      to: {
        pathNot: [
          own('console'),
          '^docs/receivers/',
          '^src/endpoints/attempt-causes(-pt-br)?[.]ts$',
          '^src/payments/event-descriptions[.]ts$',
          `^(node_modules/)?${PAGE_PACKAGES}(/|$)`,
        ],
      },
    },
    {
      name: 'console-knows-types',
      comment: 'of the service the page has the types of its calls, and nothing that runs',
      severity: 'error',
      from: { path: '^src/console/api/shapes[.]ts$' },
      to: { pathNot: ['^src/http/(client-types|api-error|error-codes)[.]ts$'] },
    },
    {
      name: 'console-types-only',
      severity: 'error',
      from: { path: '^src/console/api/shapes[.]ts$' },
      to: { path: '^src/http/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'console-is-built',
      comment: 'the service serves the built page and imports nothing of it',
      severity: 'error',
      from: { path: '^src/', pathNot: own('console') },
      to: { path: [own('console'), `^(node_modules/)?${PAGE_PACKAGES}(/|$)`] },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'resolvable',
      comment: 'a rule can say nothing of a file that is not found',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Without it, imports that only bring types would be unseen.
    tsPreCompilationDeps: true,
    // The specifiers end in .js and mean .ts, which the configuration's module resolution tells.
    tsConfig: { fileName: `${__dirname}/tsconfig.json` },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
