/**
 * Which schema a SQLite file of DATA_DIR has. The file's header says so: application_id that the file is one of ours, and
 * which; user_version the version of its schema. Lock files of groups stay empty, so they have neither.
 */
import { basename } from 'node:path';
import type { SqliteFile } from './open-file.js';

export interface FileSchema {
  readonly applicationId: number;
  /** The schema's version: one more with every change of the tables, 1 or greater. */
  readonly shape: number;
  /** The statements that make the tables of this shape. */
  readonly schema: string;
  /** The tables by which a file of a release that left the header empty is known; without them there was no such release. */
  readonly unmarked?: readonly string[];
}

/** unmarked: of a release that left the header empty. foreign: none of ours. */
export type SchemaFound = 'empty' | 'unmarked' | 'earlier' | 'same' | 'later' | 'foreign';

/** The file is left as it was; the message names the file, says why, and what to do. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
  readonly code = 'SCHEMA_REFUSED';
}

export function schemaFound(file: SqliteFile, { applicationId, shape, unmarked = [] }: FileSchema): SchemaFound {
  const [mark, version] = [read(file, 'application_id'), shapeOf(file)];
  if (mark !== 0 && mark !== applicationId) return 'foreign';
  const tables = tablesOf(file);
  if (version === 0 && tables.size === 0) return 'empty';
  if (version > shape) return 'later';
  if (mark === 0) return unmarked.length > 0 && unmarked.every((table) => tables.has(table)) ? 'unmarked' : 'foreign';
  return version === shape ? 'same' : 'earlier';
}

function shapeOf(file: SqliteFile): number {
  return read(file, 'user_version');
}

/** Within a transaction: tables and header are written together. */
export function makeSchema(file: SqliteFile, { applicationId, shape, schema }: FileSchema): void {
  file.exec(schema);
  file.pragma(`application_id = ${applicationId}`);
  file.pragma(`user_version = ${shape}`);
}

/**
 * For a file that nothing can replace, whose statements are safe to run again: makes an empty one, brings one of an earlier
 * release to this shape, and leaves one that has it alone. Within a transaction.
 *
 * @throws SchemaRefused
 */
export function adoptSchema(file: SqliteFile, schema: FileSchema): void {
  mustBeTaken(file, schema);
  if (schemaFound(file, schema) !== 'same') makeSchema(file, schema);
}

/** Writes nothing. @throws SchemaRefused for one of a later release, and for one that is none of ours */
export function mustBeTaken(file: SqliteFile, schema: FileSchema): void {
  const found = schemaFound(file, schema);
  const name = basename(file.name);
  if (found === 'foreign') {
    throw new SchemaRefused(`${name} is a SQLite file of another program: check DATA_DIR`);
  }
  if (found === 'later') {
    const versions = `${name} has schema version ${shapeOf(file)}, and this release knows versions up to ${schema.shape}`;
    throw new SchemaRefused(`${versions}: run the release that wrote it, or a later one`);
  }
}

function tablesOf(file: SqliteFile): ReadonlySet<unknown> {
  return new Set(file.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all());
}

function read(file: SqliteFile, pragma: 'application_id' | 'user_version'): number {
  return file.pragma(pragma, { simple: true }) as number;
}
