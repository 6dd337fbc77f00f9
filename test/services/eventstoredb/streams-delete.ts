/** Delete (soft: the stream may come back) and Tombstone (for ever), of streams that exist. */
import type { DeleteReq, DeleteResp, TombstoneReq, TombstoneResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { handleUnaryCall, ServerUnaryCall } from '@grpc/grpc-js';
import type { Context } from './calls.js';
import { streamName, streams } from './messages.js';
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
  return writing(context, call.metadata, () => {
    const stream = streamName(call.request.getOptions()?.getStreamIdentifier());
    context.access.must(call.metadata, 'write', stream);
    act(stream);
  });
}
