/**
 * Loaded into a service before its own code (NODE_OPTIONS): what it connects to localhost:443 goes to RECEIVER_PORT. So a
 * URL that is stored needs no port of its own, which might be taken when it is delivered to.
 */
import { syncBuiltinESMExports } from 'node:module';
import tls from 'node:tls';

const { connect } = tls;
const port = Number(process.env.RECEIVER_PORT);

tls.connect = (options, ...rest) => {
  const isReceiver = options.host === 'localhost' && options.port === 443;
  return connect(isReceiver ? { ...options, port } : options, ...rest);
};
syncBuiltinESMExports();
