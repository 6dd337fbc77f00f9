import type { DeadLetter } from '../../../src/delivery/dead-letters.js';
import { confirmedRecipientOf } from '../../../src/delivery/recipient.js';
import { replayDeadLetters } from '../../../src/delivery/retry/replay.js';
import { NOW } from '../generators/delivery-samples.js';
import type { DeliverFixture } from './deliver-fixture.js';
import { scratchInMemory } from './scratch-in-memory.js';

/** `dead-letters replay`. @returns what became of each letter, with the webhook that it is about */
export async function replay({ broker, topics, accounts, parts }: DeliverFixture, wanted = (_: DeadLetter) => true) {
  const replays = replayDeadLetters(
    {
      ...{ broker, topics, now: () => NOW, actor: 'cli:ana', scratch: scratchInMemory() },
      recipientNow: (delivery) => confirmedRecipientOf(delivery, accounts, parts.wasRemoved),
      isReadable: async (accountId) => accounts.unreadable(accountId) === null,
    },
    wanted,
  );
  const told: (readonly [kind: string, webhookId: number | null])[] = [];
  for await (const { kind, letter } of replays) told.push([kind, letter.webhookId]);
  return told;
}
