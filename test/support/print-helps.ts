// SPDX-License-Identifier: Apache-2.0
//
// Loaded before `veravox`, which then prints the helps of all commands as JSON and runs none of them.
import { Command } from 'commander';
import type { CommandHelp } from './command-helps.js';

function helpsOf(command: Command, parents: readonly string[]): CommandHelp[] {
  const path = [...parents, command.name()];
  if (command.commands.length > 0) return command.commands.flatMap((child) => helpsOf(child, path));
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return [{ path: path.join(' '), text }];
}

Command.prototype.parseAsync = async function (this: Command) {
  process.stdout.write(JSON.stringify(this.commands.flatMap((command) => helpsOf(command, []))));
  return this;
};
