/** Moves schemas with a title to #/components/schemas under that title. */
import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../../schema.js';

/**
 * Fields keep their description beside the $ref.
 *
 * @returns `root` with a $ref in place of each titled schema; `schemas` by title, which they no longer contain
 * @throws Error if two different schemas have the same title
 */
export function nameSchemas(root: Schema) {
  const schemas: Record<string, Schema> = {};
  return { root: moved(root, schemas) as Schema, schemas };
}

function moved(node: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(node)) return node.map((inner) => moved(inner, schemas));
  if (!isObject(node)) return node;
  const entries = Object.entries(node).map(([key, inner]) => {
    return [key, key === 'properties' && isObject(inner) ? fields(inner, schemas) : moved(inner, schemas)] as const;
  });
  const whole: Schema = Object.fromEntries(entries);
  const { title, ...schema } = whole;
  return typeof title === 'string' ? referred(title, schema, schemas) : whole;
}

function fields(properties: Schema, schemas: Record<string, Schema>): Schema {
  const entries = Object.entries(properties).map(([name, field]) => {
    const inner = moved(field, schemas);
    const described = isObject(field) && isObject(inner) && '$ref' in inner && field.description !== undefined;
    return [name, described ? { ...inner, description: field.description } : inner] as const;
  });
  return Object.fromEntries(entries);
}

function referred(title: string, schema: Schema, schemas: Record<string, Schema>): Schema {
  const known = schemas[title] ?? schema;
  if (!isDeepStrictEqual(known, schema)) throw new Error(`two schemas of /openapi.json are named ${title}`);
  schemas[title] = known;
  return { $ref: `#/components/schemas/${title}` };
}

function isObject(node: unknown): node is Schema {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}
