/**
 * What the system projections write, with --run-projections=All --start-standard-projections: links (`$>`) that follow
 * each event in $all. Two follow each event of a stream with a category, a third where it has a $correlationId, and a
 * fourth the first event of a stream. A real server writes them some milliseconds later, and `$stream_by_category` one
 * more for each stream. Records of the system's streams, links among them, are not linked.
 */
import type { ProposedEvent, StoredEvent } from './stored-data.js';

export const STANDARD_PROJECTIONS = ['$by_category', '$by_event_type', '$by_correlation_id', '$streams'] as const;
export type StandardProjection = (typeof STANDARD_PROJECTIONS)[number];

const LINK_TYPE = '$>';
const NOTHING = new Uint8Array();
const CORRELATION = '"$correlationId"';

/** @returns the streams that link the event */
export function linkingStreams(event: StoredEvent, running: ReadonlySet<StandardProjection>): string[] {
  if (event.stream.startsWith('$') || event.type.startsWith('$')) return [];
  const linking: string[] = [];
  const dash = event.stream.indexOf('-');
  if (dash > 0 && running.has('$by_category')) linking.push(`$ce-${event.stream.slice(0, dash)}`);
  if (running.has('$by_event_type')) linking.push(`$et-${event.type}`);
  const correlation = running.has('$by_correlation_id') && correlationOf(event);
  if (correlation) linking.push(`$bc-${correlation}`);
  if (event.revision === 0 && running.has('$streams')) linking.push('$streams');
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
