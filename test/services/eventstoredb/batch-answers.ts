/** The answers of BatchAppend. Its errors are google.rpc.Status messages in the stream: they do not end the call. */
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type Append, type Expected, MOST_BYTES, type Outcome } from './append-rules.js';
import { any, empty, identifierOf, rpc, shared, streams, uuid } from './messages.js';
import { NONE, type StoredEvent } from './stored-data.js';

interface Detail {
  serializeBinary(): Uint8Array;
}

export function batchAnswer(id: string, { stream, expected }: Append, outcome: Outcome): BatchAppendResp {
  switch (outcome.kind) {
    case 'stored':
      return answerTo(id, stream).setSuccess(success(outcome.last));
    case 'wrong-version':
      return failure(id, stream, 'WrongExpectedVersion', wrongVersion(expected, outcome.current));
    case 'deleted':
      return failure(id, stream, 'StreamDeleted', new shared.StreamDeleted().setStreamIdentifier(identifierOf(stream)));
    case 'too-large': {
      const detail = new shared.MaximumAppendSizeExceeded().setMaxappendsize(MOST_BYTES);
      return failure(id, stream, 'MaximumAppendSizeExceeded', detail);
    }
  }
}

/** The client does not know this one, and says so: "Could not recognize Server Is Not Ready". */
export function batchNotReady(id: string, stream: string): BatchAppendResp {
  return failed(id, stream, 'Server Is Not Ready', 'google.protobuf.Empty', new empty.Empty());
}

/** The client makes a DeadlineExceededError of it, which has neither a code nor a message. */
export function batchForwardingTimeout(id: string, stream: string): BatchAppendResp {
  return failure(id, stream, 'Timeout', new shared.Timeout());
}

export function batchAccessDenied(id: string, stream: string): BatchAppendResp {
  return failure(id, stream, 'AccessDenied', new shared.AccessDenied());
}

function success(last: StoredEvent | undefined): BatchAppendResp.Success {
  const message = new streams.BatchAppendResp.Success();
  if (!last) return message.setNoPosition(new empty.Empty());
  const place = `${last.position}`;
  const position = new shared.AllStreamPosition().setCommitPosition(place).setPreparePosition(place);
  return message.setCurrentRevision(`${last.revision}`).setPosition(position);
}

function wrongVersion(expected: Expected, current: number): Detail {
  const wrong = new shared.WrongExpectedVersion();
  if (current === NONE) wrong.setCurrentNoStream(new empty.Empty());
  else wrong.setCurrentStreamRevision(`${current}`);
  if (expected === 'any') return wrong.setExpectedAny(new empty.Empty());
  if (expected === 'stream_exists') return wrong.setExpectedStreamExists(new empty.Empty());
  if (expected === NONE) return wrong.setExpectedNoStream(new empty.Empty());
  return wrong.setExpectedStreamPosition(`${expected}`);
}

function failure(id: string, stream: string, name: string, detail: Detail): BatchAppendResp {
  return failed(id, stream, name, `event_store.client.${name}`, detail);
}

function failed(id: string, stream: string, message: string, type: string, detail: Detail): BatchAppendResp {
  const details = new any.Any();
  details.pack(detail.serializeBinary(), type);
  return answerTo(id, stream).setError(new rpc.Status().setMessage(message).setDetails(details));
}

function answerTo(id: string, stream: string): BatchAppendResp {
  return new streams.BatchAppendResp().setCorrelationId(uuid(id)).setStreamIdentifier(identifierOf(stream));
}
