/**
 * Which schema a SQLite file of DATA_DIR has, according to the file's header: application_id identifies our files by kind,
 * and user_version is the schema version. Lock files of groups stay empty, so they have neither.
 */
import { basename } from 'node:path';
import type { SqliteFile } from './open-file.js';

export interface FileSchema {
  readonly applicationId: number;
  /** The schema version: incremented with every change of the tables, 1 or greater. */
  readonly shape: number;
  /** The statements that create the tables of this version. */
  readonly schema: string;
  /** The tables that identify a file of a release that left the header empty; without them there was no such release. */
  readonly unmarked?: readonly string[];
}

/** unmarked: from a release that left the header empty. foreign: not one of ours. */
export type SchemaFound = 'empty' | 'unmarked' | 'earlier' | 'same' | 'later' | 'foreign';

/** The file is left unchanged; the message names the file, the cause and the remedy. */
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

/** Call within a transaction: tables and header are written together. */
export function makeSchema(file: SqliteFile, { applicationId, shape, schema }: FileSchema): void {
  file.exec(schema);
  file.pragma(`application_id = ${applicationId}`);
  file.pragma(`user_version = ${shape}`);
}

/**
 * For a file that can't be rebuilt, whose statements are safe to repeat: creates the schema in an empty file, upgrades an
 * earlier release's file, and leaves a current one unchanged. Call within a transaction.
 * @throws SchemaRefused
 */
export function adoptSchema(file: SqliteFile, schema: FileSchema): void {
  mustBeTaken(file, schema);
  if (schemaFound(file, schema) !== 'same') makeSchema(file, schema);
}

/** Writes nothing. @throws SchemaRefused for a file of a later release, or one that isn't ours */
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
