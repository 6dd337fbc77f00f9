/**
 * TLS to a server that is named by its address. Hazard of grpc-js, which EventStoreDB's client stands on: it gives the
 * address as the name in TLS' greeting. Node.js warns of that (DEP0123), and from 26 on refuses it. Without a name the
 * certificate is held against the address all the same.
 */
import { createRequire } from 'node:module';
import { isIP } from 'node:net';

interface Connector {
  readonly connectionOptions?: { servername?: string };
}

interface Credentials {
  /** Internal to grpc-js: a release may lack it, and then nothing is changed. */
  _createSecureConnector?(...about: unknown[]): Connector;
}

interface Grpc {
  readonly credentials: { createSsl(...of: unknown[]): Credentials };
}

const { resolve } = createRequire(import.meta.url);
/** As the client has it. */
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
