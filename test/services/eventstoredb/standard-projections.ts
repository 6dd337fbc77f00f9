/**
 * What the system projections write, with --run-projections=All --start-standard-projections: links (`$>`) that follow
 * each event in $all. Two follow each event of a stream with a category, a third where it has a $correlationId, and a
 * fourth the first event of a stream. A real server writes them some milliseconds later, and `$stream_by_category` one
 * more for each stream. Records of the system's streams, links among them, are not linked.
 */
import type { ProposedEvent, StoredEvent } from './stored-data.js';

const LINK_TYPE = '$>';
const NOTHING = new Uint8Array();
const CORRELATION = '"$correlationId"';

/** @returns the streams that link the event */
export function linkingStreams(event: StoredEvent): string[] {
  if (event.stream.startsWith('$') || event.type.startsWith('$')) return [];
  const linking: string[] = [];
  const dash = event.stream.indexOf('-');
  if (dash > 0) linking.push(`$ce-${event.stream.slice(0, dash)}`);
  linking.push(`$et-${event.type}`);
  const correlation = correlationOf(event);
  if (correlation) linking.push(`$bc-${correlation}`);
  if (event.revision === 0) linking.push('$streams');
  return linking;
}

export function linkTo({ revision, stream }: StoredEvent, id: string): ProposedEvent {
  const data = Buffer.from(`${revision}@${stream}`);
  return { id, type: LINK_TYPE, contentType: 'application/octet-stream', data, metadata: NOTHING };
}

function correlationOf({ metadata }: StoredEvent): string | undefined {
  const text = Buffer.from(metadata.buffer, metadata.byteOffset, metadata.byteLength).toString();
  if (!text.includes(CORRELATION)) return undefined;
  try {
    const { $correlationId } = JSON.parse(text);
    return typeof $correlationId === 'string' ? $correlationId : undefined;
  } catch {
    return undefined; // not JSON: the projection passes it over
  }
}
