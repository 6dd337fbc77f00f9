import { createServer } from 'node:net';

test('leaves a server', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  expect(server.listening).toBe(true);
});
