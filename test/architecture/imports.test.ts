import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { testInFull } from '../support/thorough.js';
import { cruise, ROOT, type Violation } from './cruise.js';

/** Each file has one import, and breaks one rule with it. */
const FORBIDDEN: readonly (readonly [file: string, statement: string, rule: string])[] = [
  ['src/webhooks/decide.ts', `import '../adapters/sqlite/store.js'`, 'pure'],
  ['src/webhooks/events.ts', `import type { Thing } from '../observability/thing.js'`, 'pure'],
  ['src/webhooks/limits.ts', `import 'node:crypto'`, 'pure'],
  ['src/webhooks/handle-command.ts', `import '../delivery/attempt/attempt.js'`, 'command-side-imports'],
  ['src/webhooks/state.ts', `import './webhook-ids.js'`, 'pure'],
  ['src/ports/broker.ts', `import '../webhooks/account.js'`, 'ports-imports'],
  ['src/secrets/seal.ts', `import '../ports/event-store.js'`, 'secrets-imports'],
  ['src/endpoints/url.ts', `import type { Thing } from '../webhooks/account.js'`, 'endpoints-imports'],
  ['src/accounts/tokens.ts', `import '../endpoints/agent.js'`, 'accounts-imports'],
  ['src/read-model/fold.ts', `import '../secrets/seal.js'`, 'read-model-imports'],
  ['src/read-model/list.ts', `import '../webhooks/account.js'`, 'pure-types-only'],
  ['src/read-model/route.ts', `import type { Thing } from '../http/list.js'`, 'read-model-imports'],
  ['src/delivery/fan-out.ts', `import '../accounts/tokens.js'`, 'delivery-imports'],
  ['src/delivery/gate.ts', `import '../observability/thing.js'`, 'observability-types-only'],
  ['src/audit/lost.ts', `import '../http/list.js'`, 'audit-imports'],
  ['src/http/server.ts', `import '../delivery/attempt/attempt.js'`, 'http-imports'],
  ['src/http/stored.ts', `import 'better-sqlite3'`, 'only-here-better-sqlite3'],
  ['src/http/client.ts', `import 'got'`, 'only-here-got'],
  ['src/observability/thing.ts', `import '../ports/event-store.js'`, 'observability-imports'],
  ['src/observability/admin.ts', `import 'kafkajs'`, 'only-here-kafkajs'],
  ['src/observability/spans.ts', `import '@opentelemetry/api'`, 'only-here-@opentelemetry'],
  ['src/adapters/kafka/broker.ts', `import '../sqlite/store.js'`, 'adapters-imports'],
  ['src/adapters/kafka/events.ts', `import '@eventstore/db-client'`, 'only-here-@eventstore/db-client'],
  ['src/adapters/sqlite/states.ts', `import '../../read-model/checkpoint.js'`, 'adapters-imports'],
  ['src/cli/demo.ts', `import 'undici'`, 'only-here-undici'],
  ['src/cli/issue.ts', `import 'jose'`, 'only-here-jose'],
  ['src/cli/serve.ts', `import 'koa'`, 'only-here-koa'],
  ['src/cli/events.ts', `import 'pino'`, 'only-here-pino'],
  ['src/composition/app.ts', `import 'commander'`, 'only-here-commander'],
  ['src/settings/table.ts', `import '../delivery/attempt/attempt.js'`, 'settings-imports'],
  ['src/cli/lost.ts', `import './nowhere.js'`, 'resolvable'],
  ['src/delivery/one.ts', `import './two.js'`, 'no-circular'],
  ['projections/fold.js', `import 'node:fs'`, 'projections-import-nothing'],
];

/** The same tree's files that break nothing. */
const ALLOWED: readonly (readonly [file: string, statement: string])[] = [
  ['src/delivery/attempt/attempt.ts', `import type { Thing } from '../../observability/thing.js'`],
  ['src/delivery/log/delivery-log.ts', `import '../../webhooks/handle-command.js'`],
  ['src/http/list.ts', `import '../payments/payment-event-schema.js'`],
  ['src/adapters/sqlite/store.ts', `import '../../ports/event-store.js'`],
  ['src/read-model/checkpoint.ts', `import '../webhooks/events.js'`],
  ['src/read-model/accounts.ts', `import type { Thing } from '../webhooks/account.js'`],
  ['src/main.ts', `import './observability/thing.js'`],
  ['src/webhooks/webhook-ids.ts', `import '../ports/event-store.js'`],
  ['src/observability/tracing.ts', ''],
  ['src/webhooks/envelope.ts', `import '../observability/tracing.js'`],
  ['src/webhooks/account.ts', ''],
  ['src/ports/event-store.ts', ''],
  ['src/endpoints/agent.ts', ''],
  ['src/payments/payment-event-schema.ts', ''],
];

function plant(directory: string): void {
  for (const [file, statement] of [...FORBIDDEN, ...ALLOWED]) {
    const path = join(directory, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${statement};\nexport type Thing = number;\n`);
  }
  // The other half of a circle, which is reported once, and a projection, which has no types.
  writeFileSync(join(directory, 'src/delivery/two.ts'), "import './one.js';\n");
  writeFileSync(join(directory, 'projections/fold.js'), "import 'node:fs';\n");
}

describe('the rules, on a tree that breaks each of them', () => {
  const directory = mkdtempSync(join(tmpdir(), 'planted-imports-'));
  let rulesBroken: ReadonlyMap<string, readonly string[]>;

  beforeAll(async () => {
    plant(directory);
    rulesBroken = rulesByFile((await cruise(directory)).violations);
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  test.each(FORBIDDEN)('%s may not: %s', (file, _statement, rule) => {
    expect(rulesBroken.get(file)).toContain(rule);
  });

  test.each(ALLOWED)('%s may: %s', (file) => {
    expect(rulesBroken.get(file)).toBeUndefined();
  });
});

function rulesByFile(violations: readonly Violation[]): ReadonlyMap<string, readonly string[]> {
  const rules = new Map<string, string[]>();
  for (const { from, rule } of violations) rules.set(from, [...(rules.get(from) ?? []), rule.name]);
  return rules;
}

/** What `make lint` says, too. */
testInFull('this repository breaks none of them', async () => {
  const { imports, violations } = await cruise(ROOT);
  expect(violations.map(({ from, to, rule }) => `${from} -> ${to}: ${rule.name}`)).toEqual([]);
  expect(imports).toBeGreaterThan(20);
});
