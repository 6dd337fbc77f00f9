/** The table of causes in docs/receivers.md, from the texts of src/endpoints/. */
import { CAUSES } from '../src/endpoints/attempt-causes.js';

const HEAD = '| what the account sees | what happened | what to do |\n|---|---|---|\n';
const TABLE = /\| what the account sees .*\n\|-.*\n(\|.*\n)*/;

const STATUSES = {
  redirect: 'a status below 400 that is not 2xx',
  auth: '401, 403',
  missing: '404',
  gone: '410',
  busy: '429',
  refused: 'any other 4xx',
  broken: '5xx',
};

/** @param chapter the text of docs/receivers.md @returns the same with the table of the causes that there are */
export function withCauses(chapter) {
  const rows = [
    ...Object.entries(STATUSES).map(([kind, status]) => row(status, CAUSES.statuses[kind])),
    ...Object.entries(CAUSES.errors).map(([error, cause]) => row(`\`error\` \`${error}\``, cause)),
    ...Object.entries(CAUSES.reasons).map(([reason, cause]) => row(`\`reason\` \`${reason}\``, cause)),
  ];
  return chapter.replace(TABLE, () => HEAD + rows.join(''));
}

function row(seen, [sentence, remedy]) {
  return `| ${seen} | ${sentence} | ${remedy} |\n`;
}
