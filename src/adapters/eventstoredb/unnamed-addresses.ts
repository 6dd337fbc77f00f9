/**
 * TLS to a server that is addressed by IP. Hazard of grpc-js, which EventStoreDB's client uses: it sends the address as the
 * server name (SNI). Node.js warns about that (DEP0123), and refuses it from 26 on. Without SNI, TLS still checks the
 * certificate against the address.
 */
import { createRequire } from 'node:module';
import { isIP } from 'node:net';

interface Connector {
  readonly connectionOptions?: { servername?: string };
}

interface Credentials {
  /** Internal to grpc-js: if a release lacks it, nothing is changed. */
  _createSecureConnector?(...about: unknown[]): Connector;
}

interface Grpc {
  readonly credentials: { createSsl(...of: unknown[]): Credentials };
}

const { resolve } = createRequire(import.meta.url);
/** The copy that the client uses. */
const clientsOwn = createRequire(resolve('@eventstore/db-client'));
let isInstalled = false;

/** For every client in this process, once. */
export function installUnnamedAddresses(): void {
  if (isInstalled) return;
  const { credentials } = clientsOwn('@grpc/grpc-js') as Grpc;
  const { createSsl } = credentials;
  credentials.createSsl = (...of) => {
    const made = createSsl(...of);
    const create = made._createSecureConnector?.bind(made);
    if (!create) return made;
    made._createSecureConnector = (...about) => unnamed(create(...about));
    return made;
  };
  isInstalled = true;
}

function unnamed(connector: Connector): Connector {
  const { connectionOptions } = connector;
  if (isIP(connectionOptions?.servername ?? '') !== 0) delete connectionOptions?.servername;
  return connector;
}
