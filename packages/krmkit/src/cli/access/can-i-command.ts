import { Command, Option } from '../commander.ts'
import { runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import { addOutputFlags, addRequestArguments, addSourceFlags, addSubjectFlags } from './options.ts'

/** The sub-command `can-i`. */
export function canICommand(terminal: Terminal): Command {
  const command = new Command('can-i')
    .summary('check whether a user is allowed to perform a request')
    .description(
      'Check whether a user is allowed to perform a request, by roles and bindings in files or by an access review of a server.',
    )
  addRequestArguments(command, { optional: true }).addOption(
    new Option('--list', 'list all allowed actions in the namespace').default(false),
  )
  addOutputFlags(
    addSourceFlags(addSubjectFlags(command, 'user to check; required with files, default: the current user')),
    'yes',
    'no',
  ).addOption(new Option('-q, --quiet', 'print nothing; report the result by the exit code').default(false))
  return command.action((verb, resource, flags) =>
    runToExitCode(terminal, async () => (await import('./can-i.ts')).runCanI([verb, resource], flags, terminal)),
  )
}
