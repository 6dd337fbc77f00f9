import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { kafkaSettings } from '../../src/composition/backbone.js';
import { readConfig } from '../../src/settings/read-config.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { newAuthority, testAuthority } from '../support/servers/certificates.js';
import { listen } from '../support/servers/receiver.js';

test('KAFKA_CA_FILE may hold an intermediate CA', async () => {
  const { authority, server } = await newAuthority(await testAuthority());
  const folder = temporaryDirectory();
  const KAFKA_CA_FILE = join(folder.path, 'ca.pem');
  writeFileSync(KAFKA_CA_FILE, authority.cert);
  const { port, close } = await listen(createServer(server));
  const MASTER_KEY = Buffer.alloc(32).toString('base64');
  const brokers = `localhost:${port}`;
  const { ssl } = kafkaSettings(readConfig({ BROKER_URL: `kafka://${brokers}`, MASTER_KEY, KAFKA_CA_FILE }), [brokers]);
  const socket = connect({ port, host: 'localhost', ...(typeof ssl === 'object' && ssl) });
  try {
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
  } finally {
    socket.destroy();
    await close();
    folder.remove();
  }
});
