/** Append, which the client uses for calls with credentials of their own, and BatchAppend, which it uses for all others. */
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import {
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type ServerDuplexStream,
  status,
} from '@grpc/grpc-js';
import type { Caller } from './access.js';
import { type Append, append, type Expected, MOST_BYTES, type Outcome } from './append-rules.js';
import { accessDenied, type Context, goneWith, RpcError, streamDeleted } from './calls.js';
import { any, empty, expectedOf, identifierOf, proposed, rpc, shared, streamName, streams, uuid } from './messages.js';
import { writing } from './node-role.js';
import { NONE, type StoredEvent } from './stored-data.js';

/** Undefined where there is to be no answer: silence, or the connection is cut. */
function store(context: Context, peer: string, request: Append): Outcome | undefined {
  if (context.faults.silentCalls.has('append')) return undefined;
  const cut = context.faults.cuts.shift();
  const outcome = cut === 'before-stored' ? undefined : append(context.data, request);
  if (cut === undefined) return outcome;
  context.cut(peer);
  return undefined;
}

export function appendHandler(context: Context): handleClientStreamingCall<AppendReq, AppendResp> {
  return (call, answer) => {
    const requests: AppendReq[] = [];
    const gone = goneWith(call);
    call.on('data', (request: AppendReq) => requests.push(request));
    call.on('end', () => {
      // A client that gave up in the middle: what came so far is not an append.
      if (call.cancelled) return;
      const request = appendOf(requests);
      writing(context, call.metadata, gone, () => {
        context.access.must(call.metadata, 'write', request.stream);
        const outcome = store(context, call.getPeer(), request);
        if (outcome) answer(null, plainAnswer(outcome, request));
      }).catch(answer);
    });
  };
}

function appendOf(requests: readonly AppendReq[]): Append {
  const options = requests[0]?.getOptions() ?? new streams.AppendReq.Options();
  const messages = requests.map((request) => request.getProposedMessage());
  return {
    stream: streamName(options.getStreamIdentifier()),
    expected: expectedOf(options, options.getRevision()),
    events: messages.filter((message) => message !== undefined).map(proposed),
  };
}

function plainAnswer(outcome: Outcome, { stream, expected }: Append): AppendResp {
  switch (outcome.kind) {
    case 'deleted':
      throw streamDeleted(stream);
    case 'too-large':
      throw new RpcError(status.INVALID_ARGUMENT, `Maximum Append Size of ${MOST_BYTES} Exceeded.`, {
        exception: 'maximum-append-size-exceeded',
        'maximum-append-size': `${MOST_BYTES}`,
      });
    case 'wrong-version':
      return new streams.AppendResp().setWrongExpectedVersion(wrongVersion(expected, outcome.current));
    case 'stored': {
      const success = new streams.AppendResp.Success();
      if (!outcome.last) return new streams.AppendResp().setSuccess(success.setNoPosition(new shared.Empty()));
      const place = `${outcome.last.position}`;
      const position = new streams.AppendResp.Position().setCommitPosition(place).setPreparePosition(place);
      success.setCurrentRevision(`${outcome.last.revision}`).setPosition(position);
      return new streams.AppendResp().setSuccess(success);
    }
  }
}

function wrongVersion(expected: Expected, current: number): AppendResp.WrongExpectedVersion {
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (current === NONE) wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(`${current}`);
  if (expected === 'any') return wrong.setExpectedAny(new shared.Empty());
  if (expected === 'stream_exists') return wrong.setExpectedStreamExists(new shared.Empty());
  if (expected === NONE) return wrong.setExpectedNoStream(new shared.Empty());
  return wrong.setExpectedRevision(`${expected}`);
}

type Batches = ServerDuplexStream<BatchAppendReq, BatchAppendResp>;

/** One call for all appends of a client; what belongs together is told by the correlation id. */
export function batchAppendHandler(context: Context): handleBidiStreamingCall<BatchAppendReq, BatchAppendResp> {
  return (call) => {
    const parts = new Map<string, BatchAppendReq[]>();
    const caller = context.access.callerOf(call.metadata);
    const gone = goneWith(call);
    call.on('end', () => call.end());
    call.on('data', (part: BatchAppendReq) => {
      const id = part.getCorrelationId()?.getString() ?? '';
      const all = [...(parts.get(id) ?? []), part];
      parts.set(id, all);
      if (!part.getIsFinal()) return;
      parts.delete(id);
      answerBatch(context, { call, caller, gone, id }, batchOf(all));
    });
  };
}

interface Batch {
  readonly call: Batches;
  readonly caller: Caller;
  readonly gone: AbortSignal;
  /** The correlation id. */
  readonly id: string;
}

function batchOf(parts: readonly BatchAppendReq[]): Append {
  const options = parts[0]?.getOptions() ?? new streams.BatchAppendReq.Options();
  return {
    stream: streamName(options.getStreamIdentifier()),
    expected: expectedOf(options, options.getStreamPosition()),
    events: parts.flatMap((part) => part.getProposedMessagesList().map(proposed)),
  };
}

/** NotLeader ends the call; every other error is a message in it. */
function answerBatch(context: Context, { call, caller, gone, id }: Batch, request: Append): void {
  const refuse = (error: RpcError) => {
    const answer = ANSWERS.get(error.code);
    if (answer) call.write(answer(id, request.stream));
    else if (!gone.aborted) call.emit('error', error);
  };
  writing(context, call.metadata, gone, () => {
    if (!context.access.allows(caller, 'write', request.stream)) throw accessDenied();
    const outcome = store(context, call.getPeer(), request);
    if (outcome) call.write(batchAnswer(id, request, outcome));
  }).catch(refuse);
}

const ANSWERS: ReadonlyMap<status, (id: string, stream: string) => BatchAppendResp> = new Map([
  [status.UNAVAILABLE, batchNotReady],
  [status.ABORTED, batchForwardingTimeout],
  [status.PERMISSION_DENIED, batchAccessDenied],
]);

/** The answers of BatchAppend. Its errors are google.rpc.Status messages in the stream: they do not end the call. */
interface Detail {
  serializeBinary(): Uint8Array;
}

function batchAnswer(id: string, { stream, expected }: Append, outcome: Outcome): BatchAppendResp {
  switch (outcome.kind) {
    case 'stored':
      return answerTo(id, stream).setSuccess(success(outcome.last));
    case 'wrong-version':
      return failure(id, stream, 'WrongExpectedVersion', batchWrongVersion(expected, outcome.current));
    case 'deleted':
      return failure(id, stream, 'StreamDeleted', new shared.StreamDeleted().setStreamIdentifier(identifierOf(stream)));
    case 'too-large': {
      const detail = new shared.MaximumAppendSizeExceeded().setMaxappendsize(MOST_BYTES);
      return failure(id, stream, 'MaximumAppendSizeExceeded', detail);
    }
  }
}

/** The client does not know this one, and says so: "Could not recognize Server Is Not Ready". */
function batchNotReady(id: string, stream: string): BatchAppendResp {
  return failed(id, stream, 'Server Is Not Ready', 'google.protobuf.Empty', new empty.Empty());
}

/** The client makes a DeadlineExceededError of it, which has neither a code nor a message. */
function batchForwardingTimeout(id: string, stream: string): BatchAppendResp {
  return failure(id, stream, 'Timeout', new shared.Timeout());
}

function batchAccessDenied(id: string, stream: string): BatchAppendResp {
  return failure(id, stream, 'AccessDenied', new shared.AccessDenied());
}

function success(last: StoredEvent | undefined): BatchAppendResp.Success {
  const message = new streams.BatchAppendResp.Success();
  if (!last) return message.setNoPosition(new empty.Empty());
  const place = `${last.position}`;
  const position = new shared.AllStreamPosition().setCommitPosition(place).setPreparePosition(place);
  return message.setCurrentRevision(`${last.revision}`).setPosition(position);
}

function batchWrongVersion(expected: Expected, current: number): Detail {
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
