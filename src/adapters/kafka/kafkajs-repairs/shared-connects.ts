/**
 * Hazard of kafkajs 2.2.4, pinned (network/connectionPool.js): each request that finds its connection closed opens a socket, and
 * all but the last stay open, unused. When the broker closes such a one, kafkajs ends the connection that works, with its
 * requests. Here the requests of one moment share one attempt to connect.
 */
import { Connection, type ConnectionState } from './kafkajs-internals.js';

let isInstalled = false;

/** For every kafkajs client in this process, once. */
export function installSharedConnects(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { connect, disconnect } = Connection.prototype;
  const connecting = new WeakMap<ConnectionState, Promise<true>>();
  Connection.prototype.connect = function (this: ConnectionState) {
    const shared = connecting.get(this);
    if (shared) return shared;
    const begun = connect.call(this).finally(() => {
      if (connecting.get(this) === begun) connecting.delete(this);
    });
    connecting.set(this, begun);
    return begun;
  };
  Connection.prototype.disconnect = function (this: ConnectionState) {
    // What connects afterwards does not wait for what was ended.
    connecting.delete(this);
    return disconnect.call(this);
  };
}
