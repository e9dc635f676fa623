import { Command } from '../commander.ts'
import { runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import { type AccessFlags, addOutputFlags, addRequestArguments, addSourceFlags } from './options.ts'

/** The sub-command `who-can`. */
export function whoCanCommand(terminal: Terminal): Command {
  const command = new Command('who-can')
    .summary('who may do something, and by which binding and rule')
    .description(
      'List everybody whom a role binding lets do something: with the binding, the role and the rule of it that decides.',
    )
  addOutputFlags(addSourceFlags(addRequestArguments(command, { optional: false })), 'somebody', 'nobody')
  return command.action((verb: string, resource: string, flags: AccessFlags) =>
    runToExitCode(terminal, async () => (await import('./who-can.ts')).runWhoCan([verb, resource], flags, terminal)),
  )
}
