export default async function tearDown() {
  await globalThis.kafkaForAll?.stop();
}
