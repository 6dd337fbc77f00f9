/**
 * EventStoreDB 23.10 or KurrentDB 25, as much as the client can see: a gRPC server in this process, by the definitions that
 * the client ships. It does what was measured of real ones, and on demand what goes wrong with them (faults).
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import projectionsService from '@eventstore/db-client/generated/projections_grpc_pb.js';
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';
import { freePort } from '../free-port.js';
import { resetSocket } from '../reset-socket.js';
import { Access, checkingCredentials, type User, Users } from './access.js';
import type { Context, Member, RunProjections } from './calls.js';
import { Connections } from './connections.js';
import { Faults } from './faults.js';
import { features, gossip, uuid } from './messages.js';
import type { Seat } from './node-role.js';
import { DEFAULT_VERSION, type ServerVersion } from './own-server.js';
import { ProjectionRunner } from './projection-runner.js';
import { projectionHandlers } from './projections.js';
import { StoredData } from './stored-data.js';
import { appendHandler } from './streams-append.js';
import { deleteHandler, tombstoneHandler } from './streams-delete.js';
import { readHandler } from './streams-read.js';

export const HOST = '127.0.0.1';

export interface EventStoreOptions {
  /** By default DEFAULT_VERSION. */
  readonly version?: ServerVersion;
  /** By default a free one. */
  readonly port?: number;
  /** Of a server that was here before: what it stored. */
  readonly data?: StoredData;
  /** PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Those of a user of $admins, the only one. */
  readonly credentials?: User;
  /** Without users everybody may do everything. The client sends credentials over TLS only. */
  readonly users?: Users;
  /** --run-projections; by default all. */
  readonly runProjections?: RunProjections;
  /** Instead of `data`: its place in a cluster. */
  readonly cluster?: Seat;
}

export interface EventStoreServer {
  /** Without credentials; over TLS a client needs &tlsCAFile= too. */
  readonly url: string;
  readonly port: number;
  /** As far as it has reached this server. */
  readonly data: StoredData;
  readonly faults: Faults;
  /** Its projections start a moment after it. */
  readonly projectionsStarted: Promise<void>;
  /** In order: connections are closed. */
  stop(): Promise<void>;
  /** At once: connections are reset. What was stored is in `data`. */
  kill(): Promise<void>;
}

export async function startEventStore(options: EventStoreOptions = {}): Promise<EventStoreServer> {
  const { tls } = options;
  const listener = createServer();
  listener.listen(options.port ?? (await freePort()), HOST);
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  let runner: ProjectionRunner | undefined;
  const faults = new Faults(() => runner?.wake());
  const connections = new Connections();
  const users = usersOf(options);
  const context = contextOf(options, { port, faults, users, cut: (peer) => connections.cut(peer) });
  runner = new ProjectionRunner(context);

  const server = new Server({
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': 17 * 1_024 * 1_024,
    interceptors: [checkingCredentials(users)],
  });
  addServices(server, context, runner);
  const injector = server.createConnectionInjector(serverCredentials(tls));
  listener.on('connection', (socket) => {
    connections.add(socket);
    injector.injectConnection(socket);
  });

  const end = async (endSocket: (socket: Socket) => void) => {
    if (!listener.listening) return;
    runner.stop();
    const closed = once(listener, 'close');
    listener.close();
    await Promise.all([closed, connections.end(endSocket)]);
    injector.destroy();
    server.forceShutdown();
  };
  return {
    url: tls ? `esdb://localhost:${port}?tls=true` : `esdb://${HOST}:${port}?tls=false`,
    port,
    get data() {
      return context.data;
    },
    faults,
    projectionsStarted: runner.started,
    stop: () => end((socket) => socket.destroy()),
    kill: () => end(resetSocket),
  };
}

function usersOf({ users, credentials }: EventStoreOptions): Users | undefined {
  return users ?? (credentials && new Users({ ...credentials, groups: ['$admins'] }));
}

interface Own extends Pick<Context, 'faults' | 'cut'> {
  readonly port: number;
  readonly users: Users | undefined;
}

function contextOf(options: EventStoreOptions, { port, users, ...own }: Own): Context {
  const seat = options.cluster ?? alone(options, port);
  return {
    ...own,
    version: options.version ?? DEFAULT_VERSION,
    get data() {
      return seat.data(port);
    },
    access: new Access(users, () => seat.data(port)),
    members: () => seat.members(port),
    isLeader: () => seat.nodeRole(port).kind === 'leader',
    nodeRole: () => seat.nodeRole(port),
    runsProjections: options.runProjections ?? 'all',
  };
}

function alone(options: EventStoreOptions, port: number): Seat {
  const data = options.data ?? new StoredData();
  const itself: Member = { id: randomUUID(), host: HOST, port, isAlive: true, state: 'leader' };
  return {
    data: () => data,
    members: () => [itself],
    nodeRole: () => ({ kind: 'leader' }),
  };
}

function addServices(server: Server, context: Context, runner: ProjectionRunner): void {
  server.addService(featuresService.ServerFeaturesService, { getSupportedMethods: supportedMethods() });
  server.addService(gossipService.GossipService, { read: gossipHandler(context) });
  server.addService(projectionsService.ProjectionsService, projectionHandlers(context, runner));
  server.addService(streamsService.StreamsService, {
    append: appendHandler(context),
    read: readHandler(context),
    delete: deleteHandler(context),
    tombstone: tombstoneHandler(context),
  });
}

function serverCredentials(tls: EventStoreOptions['tls']): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }]);
}

/** What a client asks before anything else: which calls there are, and who is the leader. */
const SAID_VERSION = '23.10.6';
const { batchAppend: _, ...streamCalls } = streamsService.StreamsService;
const SERVICES = [streamCalls, projectionsService.ProjectionsService];
const FEATURES: Readonly<Record<string, string[]>> = {
  '/event_store.client.streams.Streams/Read': ['position', 'events'],
  '/event_store.client.projections.Projections/Create': ['track_emitted_streams'],
};

function supportedMethods(): handleUnaryCall<Empty, SupportedMethods> {
  const methods = SERVICES.flatMap((service) => Object.values(service)).map(({ path }) => {
    const [, service = '', method = ''] = path.toLowerCase().split('/');
    return new features.SupportedMethod()
      .setServiceName(service)
      .setMethodName(method)
      .setFeaturesList(FEATURES[path] ?? []);
  });
  const answer = new features.SupportedMethods().setMethodsList(methods).setEventStoreServerVersion(SAID_VERSION);
  return (_, callback) => callback(null, answer);
}

function gossipHandler({ members, faults }: Context): handleUnaryCall<Empty, ClusterInfo> {
  return (_, callback) => {
    if (faults.silentCalls.has('gossip')) return;
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
