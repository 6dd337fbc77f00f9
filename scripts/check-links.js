/**
 * Ends with code 1 where a link between the documents leads nowhere, to a file that is not there or a heading that its document
 * lacks, and says which. Run by make.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import GitHubSlugger from 'github-slugger';

const FENCE = /^ *(`{3,}|~{3,})/;
/** In a heading. */
const LINKED = /!?\[([^[\]]*)\]\([^()]*\)/g;
const ELSEWHERE = /^([a-z][a-z0-9+.-]*:|\/\/)/i;

const inDocs = readdirSync('docs', { recursive: true }).map((path) => join('docs', path));
const dead = [...readdirSync('.'), ...inDocs].filter((path) => path.endsWith('.md')).flatMap(deadLinks);
for (const line of dead) process.stderr.write(`${line}\n`);
process.exitCode = dead.length > 0 ? 1 : 0;

function deadLinks(from) {
  const text = withoutFences(from).split('\n\n').map(withoutCode).join('\n\n');
  const local = linksIn(text).filter(({ target }) => !ELSEWHERE.test(target));
  return local.flatMap(({ at, target }) => {
    const [file, anchor] = decodeURIComponent(target).split('#', 2);
    const path = file === '' ? from : join(dirname(from), file);
    const isThere = existsSync(path) && (!anchor || !path.endsWith('.md') || anchorsIn(path).includes(anchor));
    return isThere ? [] : [`${from}:${text.slice(0, at).split('\n').length}: ${target} is not there`];
  });
}

/** Of `](target "title")`, with its place in the text. */
function linksIn(text) {
  const links = [];
  let end = 0;
  for (;;) {
    const at = text.indexOf('](', end);
    end = text.indexOf(')', at);
    if (at === -1 || end === -1) return links;
    const [first = ''] = text
      .slice(at + 2, end)
      .trim()
      .split(/[\s>]/);
    const target = first.replace(/^</, '');
    if (target !== '') links.push({ at, target });
  }
}

/** As GitHub makes them: of a second heading with the same text -1. */
function anchorsIn(path) {
  const slugger = new GitHubSlugger();
  const headings = withoutFences(path)
    .split('\n')
    .filter((line) => /^#{1,6} /.test(line));
  return headings.map((line) => slugger.slug(line.slice(line.indexOf(' ')).trim().replace(LINKED, '$1')));
}

function withoutFences(path) {
  let fence = null;
  const lines = readFileSync(path, 'utf8').split('\n');
  const kept = lines.map((line) => {
    const [, marker] = FENCE.exec(line) ?? [];
    const isText = fence === null && marker === undefined;
    if (fence === null) fence = marker ?? null;
    else if (marker?.startsWith(fence)) fence = null;
    return isText ? line : blanked(line);
  });
  return kept.join('\n');
}

/** @param paragraph code in it ends at as many backticks as began it */
function withoutCode(paragraph) {
  const runs = [...paragraph.matchAll(/`+/g)];
  let text = '';
  for (let [at, end] = [0, 0]; ; ) {
    const opening = runs[at];
    if (opening === undefined) return text + paragraph.slice(end);
    const closing = runs.findIndex(([run], index) => index > at && run === opening[0]);
    at = closing === -1 ? at + 1 : closing + 1;
    if (closing === -1) continue;
    const after = runs[closing].index + runs[closing][0].length;
    text += paragraph.slice(end, opening.index) + blanked(paragraph.slice(opening.index, after));
    end = after;
  }
}

/** Lines stay where they are. */
function blanked(code) {
  return code.replace(/[^\n]/g, ' ');
}
