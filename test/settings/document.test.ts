/** What tells of the settings, held against their table. */
import { settingsMarkdown } from '../../scripts/settings-markdown.js';
import { SECTIONS, SETTINGS } from '../../src/settings/table.js';
import { fileOf } from '../support/operations-chapter.js';

const NAMES = SETTINGS.map(({ key }) => key);

test('docs/settings.md is what make settings-document writes', () => {
  expect(fileOf('docs/settings.md')).toBe(settingsMarkdown(SECTIONS));
});

test.each(SETTINGS)(
  '$key: its default is one that it takes, and its sentence is one',
  ({ parser, byDefault, says }) => {
    expect(parser.parse(byDefault)).not.toBeUndefined();
    expect(says).toMatch(/^[A-Z][^|\n]+[.]$/);
  },
);

/** `${NAME}` and `${NAME:-...}` anywhere, and what stands under the first `environment:`. */
function namesIn(compose: string): readonly string[] {
  const [, environment = ''] = /\n {4}environment:\n((?: {6}.*\n)+)/.exec(compose) ?? [];
  const variables = [...compose.matchAll(/\$\{([A-Za-z_]+)/g), ...environment.matchAll(/^ {6}([A-Za-z_]+):/gm)];
  return variables.map(([, name = '']) => name);
}

test('docker-compose.yml names settings that there are', () => {
  const named = namesIn(fileOf('docker-compose.yml'));
  expect(named).toEqual(expect.arrayContaining(['PORT', 'BROKER_URL', 'MASTER_KEY', 'LOG_LEVEL']));
  expect(named.filter((name) => !NAMES.includes(name))).toEqual([]);
});

test('a setting that is misspelt in it is found', () => {
  const planted = fileOf('docker-compose.yml').replace('      BROKER_URL:', '      BROKER_ULR:');
  expect(namesIn(planted).filter((name) => !NAMES.includes(name))).toEqual(['BROKER_ULR']);
});
