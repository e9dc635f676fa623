import { Command } from '../commander.ts'
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
