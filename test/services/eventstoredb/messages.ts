/** The messages that @eventstore/db-client ships; by default imports, because Node does not see the names in them. */
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import projections from '@eventstore/db-client/generated/projections_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { AppendReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import struct from 'google-protobuf/google/protobuf/struct_pb.js';
import type { Expected } from './append-rules.js';
import { LAST_REVISION, NONE, type ProposedEvent, type StoredEvent } from './stored-data.js';

export { features, gossip, projections, shared, streams, struct };

const TICKS_IN_MS = 10_000n;

export function streamName(identifier: StreamIdentifier | undefined): string {
  return Buffer.from(identifier?.getStreamName_asU8() ?? []).toString();
}

export function identifierOf(stream: string): StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(stream));
}

export function uuid(id: string): UUID {
  return new shared.UUID().setString(id);
}

export function proposed(message: Pick<AppendReq.ProposedMessage, keyof AppendReq.ProposedMessage>): ProposedEvent {
  const about = message.getMetadataMap();
  return {
    id: message.getId()?.getString() ?? '',
    type: about.get('type') ?? '',
    contentType: about.get('content-type') ?? '',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

interface ExpectedOptions {
  hasNoStream(): boolean;
  hasAny(): boolean;
}

export function expectedOf(options: ExpectedOptions, revision: string): Expected {
  if (options.hasAny()) return 'any';
  return options.hasNoStream() ? NONE : Number(revision);
}

/**
 * Encoded once, as a real server stores what it sends: of a bench's catch-ups the first took this server 4.3 s of processor
 * time, the later ones 1.9.
 */
const encoded = new WeakMap<StoredEvent, ReadResp>();

export function eventMessage(event: StoredEvent): ReadResp {
  const known = encoded.get(event) ?? encodedOnce(newEventMessage(event));
  encoded.set(event, known);
  return known;
}

function encodedOnce(message: ReadResp): ReadResp {
  const bytes = message.serializeBinary();
  message.serializeBinary = () => bytes;
  return message;
}

function newEventMessage(event: StoredEvent): ReadResp {
  const { id, stream, type, contentType, revision, position, created, data, metadata } = event;
  const record = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(uuid(id))
    .setStreamIdentifier(identifierOf(stream))
    .setStreamRevision(revision === LAST_REVISION ? '9223372036854775807' : `${revision}`)
    .setCommitPosition(`${position}`)
    .setPreparePosition(`${position}`)
    .setData(data)
    .setCustomMetadata(metadata);
  record
    .getMetadataMap()
    .set('type', type)
    .set('content-type', contentType)
    .set('created', `${BigInt(created) * TICKS_IN_MS}`);
  const read = new streams.ReadResp.ReadEvent().setEvent(record).setCommitPosition(`${position}`);
  return new streams.ReadResp().setEvent(read);
}
