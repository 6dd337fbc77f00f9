#!/usr/bin/env node
import { processOutput } from './cli/command-io.js';
import { runCommandLine } from './cli/program.js';
import { readConfig } from './settings/read-config.js';

const io = { stdin: process.stdin, config: () => readConfig(), ...processOutput(process) };
const code = await runCommandLine(process.argv.slice(2), io, (line) => console.error(line));
// Our own resources are closed; kafkajs leaves sockets and timers behind if a broker went away meanwhile.
process.exit(code);
