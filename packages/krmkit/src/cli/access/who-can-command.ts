import { Command } from '../commander.ts'
import { runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import { type AccessFlags, addOutputFlags, addRequestArguments, addSourceFlags } from './options.ts'

/** The sub-command `who-can`. */
export function whoCanCommand(terminal: Terminal): Command {
  const command = new Command('who-can')
    .summary('list the subjects that are allowed to perform a request')
    .description(
      'List the subjects that are allowed to perform a request, each with the binding, the role and the matching rule.',
    )
  addOutputFlags(addSourceFlags(addRequestArguments(command, { optional: false })), 'at least one subject', 'no subject')
  return command.action((verb: string, resource: string, flags: AccessFlags) =>
    runToExitCode(terminal, async () => (await import('./who-can.ts')).runWhoCan([verb, resource], flags, terminal)),
  )
}
