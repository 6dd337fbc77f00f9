/** Hazards of @eventstore/db-client 6.2.1 and the grpc-js that it uses, mended for every client in this process. */
import { createRequire } from 'node:module';
import { isIP } from 'node:net';

type Connector = { readonly connectionOptions?: { servername?: string } };

interface Credentials {
  /** Internal to grpc-js: if a release lacks it, nothing is changed. */
  _createSecureConnector?(...about: unknown[]): Connector;
}

type Grpc = { readonly credentials: { createSsl(...of: unknown[]): Credentials } };

type Debug = { readonly debug: { connection: (...about: unknown[]) => void } };

const require = createRequire(import.meta.url);
const DISCOVERY_FAILED = /^Failed to (get cluster list|resolve dns)/;
let lastFailure: string | null = null;
let isInstalled = false;

export function patchClient(): void {
  if (isInstalled) return;
  isInstalled = true;
  keepDiscoveryFailures();
  connectUnnamed();
}

/** Why the last member of a cluster was not found, in words of gRPC; null if none has failed. */
export function lastDiscoveryFailure(): string | null {
  return lastFailure;
}

/** Client/discovery.js drops the error of each member, and passes it only to its debug log. */
function keepDiscoveryFailures(): void {
  const { debug } = require('@eventstore/db-client/dist/utils/debug.js') as Debug;
  const { connection } = debug;
  debug.connection = (text, ...more) => {
    if (DISCOVERY_FAILED.test(String(text))) lastFailure = String(more[0]);
    connection(text, ...more);
  };
}

/**
 * TLS to a server that is addressed by IP: grpc-js sends the address as the server name (SNI). Node.js warns about that
 * (DEP0123), and refuses it from 26 on. Without SNI, TLS still checks the certificate against the address.
 */
function connectUnnamed(): void {
  const clientsOwn = createRequire(require.resolve('@eventstore/db-client'));
  const { credentials } = clientsOwn('@grpc/grpc-js') as Grpc;
  const { createSsl } = credentials;
  credentials.createSsl = (...of) => {
    const made = createSsl(...of);
    const create = made._createSecureConnector?.bind(made);
    if (create) made._createSecureConnector = (...about) => unnamed(create(...about));
    return made;
  };
}

function unnamed(connector: Connector): Connector {
  const { connectionOptions } = connector;
  if (isIP(connectionOptions?.servername ?? '') !== 0) delete connectionOptions?.servername;
  return connector;
}
