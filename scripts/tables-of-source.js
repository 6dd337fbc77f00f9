/** The tables in documents that are written from those of src/. */
import { CAUSES } from '../src/endpoints/attempt-causes.js';
import { METRICS } from '../src/observability/metrics-table.js';
import { SECTIONS } from '../src/settings/table.js';
import { table } from './markdown-table.js';

const code = (text) => `\`${text}\``;

const STATUSES = {
  redirect: 'a status below 400 that is not 2xx',
  auth: '401, 403',
  missing: '404',
  gone: '410',
  busy: '429',
  refused: 'any other 4xx',
  broken: '5xx',
};

/** By document: the text as it is @returns the text with the tables as they are to be */
export const WITH_TABLES = {
  'docs/settings.md': (text) => {
    const [head] = text.split('\n## ');
    const chapters = Object.entries(SECTIONS).map(([name, settings]) => {
      const rows = Object.entries(settings).map(([key, { parser, byDefault, says }]) => {
        return [code(key), byDefault ? code(byDefault) : '-', parser.expected, says];
      });
      return `\n## ${name}\n\n${table(['setting', 'default', 'takes', ''], rows)}\n`;
    });
    return head + chapters.join('');
  },

  'docs/operations.md': (text) => {
    const rows = Object.entries(METRICS).map(([name, { type, labels, says }]) => {
      return [code(name), type, labels.map(code).join(', '), says];
    });
    return withTable(text, ['metric', 'type', 'labels', 'meaning'], rows);
  },

  'docs/receivers.md': (text) => {
    const { statuses, errors, reasons } = CAUSES;
    const rows = [
      ...Object.entries(STATUSES).map(([kind, status]) => [status, ...statuses[kind]]),
      ...Object.entries(errors).map(([error, cause]) => [`\`error\` ${code(error)}`, ...cause]),
      ...Object.entries(reasons).map(([reason, cause]) => [`\`reason\` ${code(reason)}`, ...cause]),
    ];
    return withTable(text, ['what the account sees', 'what happened', 'what to do'], rows);
  },
};

/** In the place of the table with this head. */
function withTable(text, head, rows) {
  const [lines] = text.split(`| ${head.join(' | ')} |\n`).slice(1);
  const old = /^(\|.*\n)*/.exec(lines)[0];
  return text.replace(`| ${head.join(' | ')} |\n${old}`, () => `${table(head, rows)}\n`);
}
