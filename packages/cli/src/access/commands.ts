import { Command, Option } from '../commander.ts'
import { runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import {
  type AccessFlags,
  addOutputFlags,
  addRequestArguments,
  addSourceFlags,
  addSubjectFlags,
  type SubjectFlags,
} from './options.ts'

/** The sub-commands for access. Their implementations are loaded when they run. */

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

/** The sub-command `explain-access`. */
export function explainAccessCommand(terminal: Terminal): Command {
  const command = new Command('explain-access')
    .summary('explain why a user is allowed or denied a request')
    .description(
      'Show the bindings, roles and rules that allow a request; or the bindings of the user that do not, and the subjects that are allowed instead.',
    )
  addOutputFlags(addSourceFlags(addSubjectFlags(addRequestArguments(command, { optional: false }), 'user to check')), 'yes', 'no')
  return command.action((verb: string, resource: string, flags: AccessFlags & SubjectFlags) =>
    runToExitCode(terminal, async () =>
      (await import('./explain-access.ts')).runExplainAccess([verb, resource], flags, terminal),
    ),
  )
}
