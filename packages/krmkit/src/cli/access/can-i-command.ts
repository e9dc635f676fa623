import { Command, Option } from '../commander.ts'
import { runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import { addOutputFlags, addRequestArguments, addSourceFlags, addSubjectFlags } from './options.ts'

/** The sub-command `can-i`. */
export function canICommand(terminal: Terminal): Command {
  const command = new Command('can-i')
    .summary('whether somebody may do something')
    .description('Tell whether somebody may do something: by roles and bindings in files, or by asking a server.')
  addRequestArguments(command, { optional: true }).addOption(
    new Option('--list', 'list everything that is allowed in the namespace').default(false),
  )
  addOutputFlags(
    addSourceFlags(addSubjectFlags(command, 'whose rights; needed with files, and by default your own')),
    'yes',
    'no',
  ).addOption(new Option('-q, --quiet', 'answer by the exit code alone').default(false))
  return command.action((verb, resource, flags) =>
    runToExitCode(terminal, async () => (await import('./can-i.ts')).runCanI([verb, resource], flags, terminal)),
  )
}
