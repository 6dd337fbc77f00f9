/** What tells of the settings, held against their table. */
import { settingsMarkdown } from '../../scripts/settings-markdown.js';
import { SECTIONS, SETTINGS } from '../../src/settings/table.js';
import { fileOf } from '../support/operations-chapter.js';

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
