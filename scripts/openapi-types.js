/** TypeScript of an OpenAPI document, without the descriptions: the document has those. */
import openapiTs, { astToString } from 'openapi-typescript';

/** Methods and parameters that an operation does not have. */
const ABSENT = /^ +\w+\?: never;\n/gm;

/** @param {object} document @returns {Promise<string>} */
export async function openApiTypes(document) {
  const nodes = await openapiTs(bare(document), { alphabetize: true });
  const text = astToString(nodes).replace(ABSENT, '');
  return `/** Written by \`make console-types\` from /openapi.json. */\n\n${text}`;
}

function bare(value) {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key, inner]) => !isText(key, inner));
  return Object.fromEntries(kept.map(([key, inner]) => [key, bare(inner)]));
}

function isText(key, value) {
  return (
    ['description', 'summary', 'example', 'examples'].includes(key) &&
    (typeof value === 'string' || key !== 'description')
  );
}
