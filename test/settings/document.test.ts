/** What tells of the settings, held against their table. */
import { WITH_TABLES } from '../../scripts/tables-of-source.js';
import { SETTINGS } from '../../src/settings/table.js';
import { fileOf } from '../support/oracles/file-of.js';

test.each(Object.entries(WITH_TABLES))('%s has the tables that make writes', (path, withTables) => {
  expect(fileOf(path)).toBe(withTables(fileOf(path)));
});

test.each(SETTINGS)(
  '$key: its default is one that it takes, and its sentence is one',
  ({ parser, byDefault, says }) => {
    expect(parser.parse(byDefault)).not.toBeUndefined();
    expect(says).toMatch(/^[A-Z][^|\n]+[.]$/);
  },
);
