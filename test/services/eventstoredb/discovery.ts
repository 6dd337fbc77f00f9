/** What a client asks before anything else: which calls there are (ServerFeatures), and who is the leader (Gossip). */

import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import projectionsService from '@eventstore/db-client/generated/projections_grpc_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { handleUnaryCall } from '@grpc/grpc-js';
import type { Context, Member } from './calls.js';
import { features, gossip, uuid } from './messages.js';

const VERSION = '23.10.6';
const SERVICES = [streamsService.StreamsService, projectionsService.ProjectionsService];
const FEATURES: Readonly<Record<string, string[]>> = {
  '/event_store.client.streams.Streams/BatchAppend': ['deadline_duration'],
  '/event_store.client.streams.Streams/Read': ['position', 'events'],
  '/event_store.client.projections.Projections/Create': ['track_emitted_streams'],
};

export function supportedMethods(): handleUnaryCall<Empty, SupportedMethods> {
  const methods = SERVICES.flatMap((service) => Object.values(service)).map(({ path }) => {
    const [, service = '', method = ''] = path.toLowerCase().split('/');
    return new features.SupportedMethod()
      .setServiceName(service)
      .setMethodName(method)
      .setFeaturesList(FEATURES[path] ?? []);
  });
  const answer = new features.SupportedMethods().setMethodsList(methods).setEventStoreServerVersion(VERSION);
  return (_, callback) => callback(null, answer);
}

export function gossipHandler({ members, faults }: Context): handleUnaryCall<Empty, ClusterInfo> {
  return (_, callback) => {
    if (faults.isSilent('gossip')) return;
    callback(null, new gossip.ClusterInfo().setMembersList(members().map(memberInfo)));
  };
}

function memberInfo({ id, host, port, isAlive, state }: Member) {
  const { LEADER, FOLLOWER, UNKNOWN } = gossip.MemberInfo.VNodeState;
  return new gossip.MemberInfo()
    .setInstanceId(uuid(id))
    .setTimeStamp(`${Date.now()}`)
    .setState({ leader: LEADER, follower: FOLLOWER, unknown: UNKNOWN }[state])
    .setIsAlive(isAlive)
    .setHttpEndPoint(new gossip.EndPoint().setAddress(host).setPort(port));
}
