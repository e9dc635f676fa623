import { type Command, Option } from '../commander.ts'
import { append } from '../flag-values.ts'
import { colorOption, exitCodeHelp } from '../offline/command.ts'
import type { ColorWhen } from '../offline/terminal.ts'

/** Flags that all commands about rights share. */
export interface AccessFlags {
  readonly filename: readonly string[]
  readonly bootstrapRoles: boolean
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
  readonly allNamespaces: boolean
  readonly subresource?: string
  readonly output: 'text' | 'json'
  readonly color: ColorWhen
}

/** Flags that say who it is about. */
export interface SubjectFlags {
  readonly as?: string
  readonly asGroup: readonly string[]
}

/** Adds the arguments and flags of a question. */
export function addRequestArguments(command: Command, { optional }: { readonly optional: boolean }): Command {
  const [open, close] = optional ? ['[', ']'] : ['<', '>']
  return command
    .argument(`${open}verb${close}`, 'such as get, list, create, impersonate, escalate; of a path the method in lower case')
    .argument(
      `${open}resource${close}`,
      'plural, singular, short name or kind, with .group where it is needed and /name for one object; or a path such as /metrics',
    )
    .optionsGroup('What is asked:')
    .addOption(new Option('-n, --namespace <name>', 'where (default: that of the context, else default)'))
    .addOption(new Option('-A, --all-namespaces', 'in the whole cluster').default(false))
    .addOption(new Option('--subresource <name>', 'a sub-resource such as log or status'))
}

/** Adds the flags that say where roles and bindings come from. */
export function addSourceFlags(command: Command): Command {
  return command
    .optionsGroup('Where roles and bindings come from:')
    .addOption(
      new Option('-f, --filename <path>', 'files or folders with them, or -; may be repeated; without it a server is asked')
        .default([], 'none')
        .argParser(append),
    )
    .addOption(
      new Option('--no-bootstrap-roles', 'leave out the roles and bindings that every cluster has, beside those of files'),
    )
    .addOption(new Option('--kubeconfig <file>', 'how to reach the server (default: as kubectl finds it)'))
    .addOption(new Option('--context <name>', 'context of the kubeconfig'))
}

export function addSubjectFlags(command: Command, about: string): Command {
  return command
    .optionsGroup('Who:')
    .addOption(new Option('--as <user>', `${about}; system:serviceaccount:NAMESPACE:NAME for a service account`))
    .addOption(new Option('--as-group <name>', 'a group of that user; may be repeated').default([], 'none').argParser(append))
}

export function addOutputFlags(command: Command, fine: string, findings: string): Command {
  return command
    .optionsGroup('What is printed:')
    .addOption(new Option('-o, --output <form>', 'form of the answer').choices(['text', 'json']).default('text'))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp(fine, findings))
}
