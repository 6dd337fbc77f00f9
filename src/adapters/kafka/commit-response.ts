/**
 * The answer to a commit of offsets, where a topic of it is gone: it fails at once. kafkajs would send the same commit again
 * for seconds, and if the topic is made again meanwhile, the group would stand there as far as it stood in the old one.
 */
import { isUnknownTopic } from './kafka-errors.js';
import { offsetCommitProtocol } from './kafkajs-internals.js';

let isInstalled = false;

/** For every client of kafkajs in this process, once. */
export function installCommitAnswers(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { protocol } = offsetCommitProtocol;
  offsetCommitProtocol.protocol = ({ version }) => {
    const call = protocol({ version });
    if (!call) return call;
    return (parameters) => {
      const made = call(parameters);
      const parse = (decoded: unknown) => made.response.parse(decoded).catch(failed);
      return { ...made, response: { ...made.response, parse } };
    };
  };
}

function failed(error: Error): never {
  throw isUnknownTopic(error) ? Object.assign(error, { retriable: false }) : error;
}
