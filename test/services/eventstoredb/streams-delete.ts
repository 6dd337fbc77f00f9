/** Delete (soft: the stream may come back) and Tombstone (for ever). */
import type { DeleteReq, DeleteResp, TombstoneReq, TombstoneResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type handleUnaryCall, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { type Expected, refusesDelete } from './append-rules.js';
import { type Context, goneWith, RpcError, streamDeleted } from './calls.js';
import { expectedOf, streamName, streams } from './messages.js';
import { writing } from './node-role.js';

export function deleteHandler(context: Context): handleUnaryCall<DeleteReq, DeleteResp> {
  return (call, answer) => {
    deleting(context, call, (stream) => {
      const place = `${context.data.softDelete(stream)?.position}`;
      const position = new streams.DeleteResp.Position().setCommitPosition(place).setPreparePosition(place);
      answer(null, new streams.DeleteResp().setPosition(position));
    }).catch(answer);
  };
}

export function tombstoneHandler(context: Context): handleUnaryCall<TombstoneReq, TombstoneResp> {
  return (call, answer) => {
    deleting(context, call, (stream) => {
      const place = `${context.data.tombstone(stream)?.position}`;
      const position = new streams.TombstoneResp.Position().setCommitPosition(place).setPreparePosition(place);
      answer(null, new streams.TombstoneResp().setPosition(position));
    }).catch(answer);
  };
}

type Deletion = ServerUnaryCall<DeleteReq | TombstoneReq, unknown>;

function deleting(context: Context, call: Deletion, act: (stream: string) => void): Promise<void> {
  return writing(context, call.metadata, goneWith(call), () => {
    const options = call.request.getOptions();
    context.access.must(call.metadata, 'delete', streamName(options?.getStreamIdentifier()));
    act(mayBeDeleted(context, options));
  });
}

/** @returns the stream's name */
function mayBeDeleted(
  { data }: Context,
  options: DeleteReq.Options | TombstoneReq.Options = new streams.DeleteReq.Options(),
): string {
  const stream = streamName(options.getStreamIdentifier());
  const expected = expectedOf(options, options.getRevision());
  const refused = refusesDelete(data, stream, expected);
  if (refused?.kind === 'deleted') throw streamDeleted(stream);
  if (refused?.kind === 'wrong-version') throw wrongVersion(stream, expected, refused.current);
  return stream;
}

const NUMBERS = { any: -2, stream_exists: -4 };

function wrongVersion(stream: string, expected: Expected, current: number): RpcError {
  return new RpcError(status.FAILED_PRECONDITION, 'Delete failed due to WrongExpectedVersion.', {
    exception: 'wrong-expected-version',
    'stream-name': stream,
    'expected-version': `${typeof expected === 'number' ? expected : NUMBERS[expected]}`,
    'actual-version': `${current}`,
  });
}
