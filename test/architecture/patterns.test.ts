/**
 * No regular expression takes worse than linear time, whatever text it gets: a Retry-After of 600 dashes took one of the
 * fourth degree minutes, and nothing else ran. recheck looks for such a text, or proves that there is none.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { checkSync, type Parameters } from 'recheck';
import { structuredCloudEventSchema } from '../../src/payments/payment-event-schema.js';
import { inFull } from '../runner/thorough.js';
import { findInText, findPatterns, type Pattern, schemaValues } from '../support/oracles/patterns.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const { literal, composed, constructed } = findPatterns(['src', 'projections', 'scripts']);
/** No limit of time, which beside other work decides by chance. */
const PARAMETERS: Parameters = { timeout: null };
/** `make test` verifies a pattern once: all 200 take 40 s of a core. `make test-all` verifies each. */
const VERIFIED = new URL('../../dist/.linear-patterns', import.meta.url);
const backend = process.env.RECHECK_SYNC_BACKEND;

let api: BareApi;
let documented: Pattern[];
let formats: string[];

beforeAll(async () => {
  // In JavaScript, in this process: the others need Java or a binary for each platform.
  process.env.RECHECK_SYNC_BACKEND = 'pure';
  api = await startBareApi();
  const openApi: unknown = await (await fetch(`${api.url}/openapi.json`)).json();
  const document = [openApi, structuredCloudEventSchema];
  documented = schemaValues(document, 'pattern').map((source) => ({ where: 'a document', source, flags: 'u' }));
  formats = schemaValues(document, 'format');
});
afterAll(async () => {
  if (backend === undefined) delete process.env.RECHECK_SYNC_BACKEND;
  else process.env.RECHECK_SYNC_BACKEND = backend;
  await api.close();
});

/** Null: linear or better. */
function describeAttack({ where, source, flags }: Pattern): string | null {
  const result = checkSync(source, flags, PARAMETERS);
  switch (result.status) {
    case 'safe':
      return null;
    case 'vulnerable':
      return `${where} /${source}/${flags} is ${result.complexity.summary}: ${result.attack.pattern}`;
    case 'unknown':
      return `${where} /${source}/${flags} could not be checked: ${result.error.kind}`;
    default:
      return result satisfies never;
  }
}

const idOf = ({ source, flags }: Pattern) => JSON.stringify([source, flags]);

function verified(): readonly string[] {
  const isThere = existsSync(VERIFIED);
  return inFull([], isThere ? (JSON.parse(readFileSync(VERIFIED, 'utf8')) as string[]) : []);
}

test('each regular expression takes linear time', () => {
  const before = new Set(verified());
  const distinct = new Map([...literal, ...documented].map((pattern) => [idOf(pattern), pattern]));
  const attacks = [...distinct].map(([id, pattern]) => [id, before.has(id) ? null : describeAttack(pattern)] as const);
  writeFileSync(VERIFIED, JSON.stringify(attacks.flatMap(([id, attack]) => (attack === null ? [id] : []))));
  expect(attacks.flatMap(([, attack]) => attack ?? [])).toEqual([]);
  expect(distinct.size).toBeGreaterThan(150);
});

test('none is made of a text at run time', () => expect(constructed).toEqual([]));

test('patterns of schemas that are composed are in the documents', () => {
  const isDocumented = ({ start, end }: (typeof composed)[number]) =>
    documented.some(({ source }) => source.startsWith(start) && source.endsWith(end));
  expect(composed.filter((pattern) => !isDocumented(pattern))).toEqual([]);
  expect(composed.length).toBeGreaterThan(0);
});

test('formats are those that are parsed without a pattern', () => {
  expect([...new Set(formats)].sort()).toEqual(['date-time', 'uri']);
});

describe('what the test finds', () => {
  it.each([
    ['backtracking in the fourth degree', /^(?:Mon|Tue)\w*,? \S+[ -]+\S+.* \d\d:\d\d:\d\d(?: \d{4}| GMT)$/],
    ['slashes in the middle', /\/+$/],
    ['nested repetition', /^(a+)+$/],
  ])('is %s', (_, { source, flags }) => expect(describeAttack({ where: 'a test', source, flags })).not.toBeNull());

  it('is every kind of expression', () => {
    const text = [
      'const [a, b] = [/a+/gi, { pattern: "^b$" }];',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: TypeScript within a text.
      'const c = { "pattern": `^${a}c$`, other: { pattern: a.source } };',
      'new RegExp(a); RegExp("d"); "e".match("f");',
      'globalThis.RegExp("g"); "h".match(a);',
    ].join('\n');
    expect(findInText('x.ts', text)).toEqual({
      literal: [
        { where: 'x.ts:1', source: 'a+', flags: 'gi' },
        { where: 'x.ts:1', source: '^b$', flags: 'u' },
      ],
      composed: [{ where: 'x.ts:2', start: '^', end: 'c$' }],
      constructed: ['x.ts:3', 'x.ts:3', 'x.ts:3', 'x.ts:4'],
    });
  });
});
