/**
 * EventStoreDB 23.10, as much of it as its client can see: a gRPC server in this process, by the definitions that the
 * client ships. It does what was measured of a real one, and on demand what goes wrong with real ones (faults).
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import projectionsService from '@eventstore/db-client/generated/projections_grpc_pb.js';
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { Context, Member, RunProjections } from './calls.js';
import { type Credentials, checkingCredentials, userOf } from './credentials.js';
import { gossipHandler, supportedMethods } from './discovery.js';
import { Faults } from './faults.js';
import { ProjectionRunner } from './projection-runner.js';
import { projectionHandlers } from './projections-service.js';
import { StoredData } from './stored-data.js';
import { appendHandler, batchAppendHandler } from './streams-append.js';
import { deleteHandler, tombstoneHandler } from './streams-delete.js';
import { readHandler } from './streams-read.js';

const HOST = '127.0.0.1';

export interface EventStoreOptions {
  /** By default a free one. */
  readonly port?: number;
  /** Of a server that was here before: what it stored. */
  readonly data?: StoredData;
  /** PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Without them everybody may do everything. The client sends them over TLS only. */
  readonly credentials?: Credentials;
  /** Projections wait from the start on, until faults.holdProjections(false). */
  readonly projectionsHeld?: boolean;
  /** --run-projections; by default all. */
  readonly runProjections?: RunProjections;
  /** The users in $ops or $admins; by default everybody. */
  readonly projectionOperators?: readonly string[];
  readonly cluster?: { members(): readonly Member[]; isLeader(port: number): boolean };
}

export interface EventStoreServer {
  /** Without credentials; over TLS a client needs &tlsCAFile= too. */
  readonly url: string;
  readonly port: number;
  readonly data: StoredData;
  readonly faults: Faults;
  /** In order: connections are closed. */
  stop(): Promise<void>;
  /** At once: connections are reset. What was stored is in `data`. */
  kill(): Promise<void>;
}

export async function startEventStore(options: EventStoreOptions = {}): Promise<EventStoreServer> {
  const { data = new StoredData(), tls, cluster } = options;
  const sockets = new Map<string, Socket>();
  const listener = createServer();
  let runner: ProjectionRunner | undefined;
  const faults = new Faults(() => runner?.wake());
  if (options.projectionsHeld) faults.holdProjections();
  listener.listen(options.port ?? 0, HOST);
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const itself = { id: randomUUID(), host: HOST, port, isAlive: true, isLeader: true };
  const context: Context = {
    data,
    faults,
    cut: (peer) => sockets.get(peer)?.resetAndDestroy(),
    members: () => cluster?.members() ?? [itself],
    isLeader: () => cluster?.isLeader(port) ?? true,
    runsProjections: options.runProjections ?? 'all',
    mayChangeProjections: (caller) => options.projectionOperators?.includes(userOf(caller)) ?? true,
  };
  runner = new ProjectionRunner(context);

  const server = new Server({
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': 17 * 1_024 * 1_024,
    interceptors: [checkingCredentials(options.credentials, faults)],
  });
  addServices(server, context, runner);
  const connections = server.createConnectionInjector(serverCredentials(tls));
  listener.on('connection', (socket) => {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    sockets.set(peer, socket);
    socket.on('close', () => sockets.delete(peer)).on('error', () => undefined);
    connections.injectConnection(socket);
  });

  const end = async (endSocket: (socket: Socket) => void) => {
    if (!listener.listening) return;
    runner.stop();
    const closed = [once(listener, 'close'), ...[...sockets.values()].map(closeOf)];
    listener.close();
    for (const socket of sockets.values()) endSocket(socket);
    await Promise.all(closed);
    connections.destroy();
    server.forceShutdown();
  };
  return {
    url: tls ? `esdb://localhost:${port}?tls=true` : `esdb://${HOST}:${port}?tls=false`,
    port,
    data,
    faults,
    stop: () => end((socket) => socket.destroy()),
    kill: () => end((socket) => socket.resetAndDestroy()),
  };
}

/** events.once is rejected where the client ends the connection at the same moment. */
function closeOf(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve));
}

function addServices(server: Server, context: Context, runner: ProjectionRunner): void {
  server.addService(featuresService.ServerFeaturesService, { getSupportedMethods: supportedMethods() });
  server.addService(gossipService.GossipService, { read: gossipHandler(context) });
  server.addService(projectionsService.ProjectionsService, projectionHandlers(context, runner));
  server.addService(streamsService.StreamsService, {
    append: appendHandler(context),
    batchAppend: batchAppendHandler(context),
    read: readHandler(context),
    delete: deleteHandler(context),
    tombstone: tombstoneHandler(context),
  });
}

function serverCredentials(tls: EventStoreOptions['tls']): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }]);
}
