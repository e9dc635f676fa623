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
    .summary('why somebody may do something, or may not')
    .description(
      'Tell which bindings, roles and rules let somebody do something; or which of their bindings do not, and who may do it instead.',
    )
  addOutputFlags(addSourceFlags(addSubjectFlags(addRequestArguments(command, { optional: false }), 'whose rights')), 'yes', 'no')
  return command.action((verb: string, resource: string, flags: AccessFlags & SubjectFlags) =>
    runToExitCode(terminal, async () =>
      (await import('./explain-access.ts')).runExplainAccess([verb, resource], flags, terminal),
    ),
  )
}
