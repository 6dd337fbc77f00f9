/**
 * Ends with code 1 where a link between the documents leads nowhere, to a file that is not there or a heading that its document
 * lacks, and says which. Run by make.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import GitHubSlugger from 'github-slugger';

const FENCED = /^( *)(`{3,}|~{3,})[^\n]*\n(?:.*\n)*?\1?\2.*$/gm;
const CODE = /(`+)(?!`)(?:(?!\n\n)[\s\S])*?[^`]\1(?!`)/g;
const LINK = /\]\(\s*<?([^)\s>]+)>?[^)]*\)/g;
const ELSEWHERE = /^([a-z][a-z0-9+.-]*:|\/\/)/i;

const inDocs = readdirSync('docs', { recursive: true }).map((path) => join('docs', path));
const dead = [...readdirSync('.'), ...inDocs].filter((path) => path.endsWith('.md')).flatMap(deadLinks);
for (const line of dead) process.stderr.write(`${line}\n`);
process.exitCode = dead.length > 0 ? 1 : 0;

function deadLinks(from) {
  const text = withoutFences(from).replace(CODE, blanked);
  const links = [...text.matchAll(LINK)].filter(([, target]) => !ELSEWHERE.test(target));
  return links.flatMap(({ index, 1: target }) => {
    const [file, anchor] = decodeURIComponent(target).split('#', 2);
    const path = file === '' ? from : join(dirname(from), file);
    const isThere = existsSync(path) && (!anchor || !path.endsWith('.md') || anchorsIn(path).includes(anchor));
    return isThere ? [] : [`${from}:${text.slice(0, index).split('\n').length}: ${target} is not there`];
  });
}

/** As GitHub makes them: of a second heading with the same text -1. */
function anchorsIn(path) {
  const slugger = new GitHubSlugger();
  const headings = [...withoutFences(path).matchAll(/^#{1,6} +(.+?) *$/gm)];
  return headings.map(([, heading]) => slugger.slug(heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')));
}

function withoutFences(path) {
  return readFileSync(path, 'utf8').replace(FENCED, blanked);
}

/** Lines stay where they are. */
function blanked(code) {
  return code.replace(/[^\n]/g, ' ');
}
