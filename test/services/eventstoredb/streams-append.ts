/**
 * Append. The service uses it for all it appends (credentialsOf in src/adapters/eventstoredb/client.ts), and so does every
 * client of this server, which does not offer BatchAppend.
 */
import type { AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { handleClientStreamingCall } from '@grpc/grpc-js';
import { type Append, append, type Outcome } from './append-rules.js';
import { type Context, streamDeleted } from './calls.js';
import { expectedOf, proposed, shared, streamName, streams } from './messages.js';
import { writing } from './node-role.js';
import { NONE } from './stored-data.js';

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
    call.on('data', (request: AppendReq) => requests.push(request));
    call.on('end', () => {
      // A client that gave up in the middle: what came so far is not an append.
      if (call.cancelled) return;
      const request = appendOf(requests);
      writing(context, call.metadata, () => {
        context.access.must(call.metadata, 'write', request.stream);
        const outcome = store(context, call.getPeer(), request);
        if (outcome) answer(null, answerTo(outcome, request));
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

function answerTo(outcome: Outcome, { stream, expected }: Append): AppendResp {
  switch (outcome.kind) {
    case 'deleted':
      throw streamDeleted(stream);
    case 'wrong-version':
      return new streams.AppendResp().setWrongExpectedVersion(wrongVersion(Number(expected), outcome.current));
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

function wrongVersion(expected: number, current: number): AppendResp.WrongExpectedVersion {
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (current === NONE) wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(`${current}`);
  if (expected === NONE) return wrong.setExpectedNoStream(new shared.Empty());
  return wrong.setExpectedRevision(`${expected}`);
}
