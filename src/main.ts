#!/usr/bin/env node
import { once } from 'node:events';
import { printable } from './cli/printable.js';
import { runCommandLine } from './cli/program.js';
import { readConfig } from './settings/read-config.js';

// The reader of stdout may stop early: `account-webhooks audit log | head`.
process.stdout.on('error', () => process.exit(0));

const writeTo = (stream: NodeJS.WriteStream) => async (line: string) => {
  if (!stream.write(`${printable(line)}\n`)) await once(stream, 'drain');
};

const io = {
  stdin: process.stdin,
  config: () => readConfig(),
  print: writeTo(process.stdout),
  warn: writeTo(process.stderr),
};

const code = await runCommandLine(process.argv.slice(2), io, (line) => console.error(line));
// Our own resources are closed; kafkajs leaves sockets and timers behind if a broker went away meanwhile.
process.stdout.write('', () => process.exit(code));
