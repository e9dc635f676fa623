import { defaultRelease } from '@krmkit/meta'
import { type Command, Option } from '../commander.ts'
import { append, emulatedVersion } from '../flag-values.ts'
import { colorOption, exitCodeHelp } from '../offline/command.ts'
import type { ColorWhen } from '../offline/terminal.ts'

/** Flags shared by the access commands. */
export interface AccessFlags {
  readonly filename: readonly string[]
  readonly bootstrapRoles: boolean
  readonly release: string
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
  readonly allNamespaces: boolean
  readonly subresource?: string
  readonly output: 'text' | 'json'
  readonly color: ColorWhen
}

/** Flags of the user to check. */
export interface SubjectFlags {
  readonly as?: string
  readonly asGroup: readonly string[]
}

/** Adds the arguments and flags of the request to check. */
export function addRequestArguments(command: Command, { optional }: { readonly optional: boolean }): Command {
  const [open, close] = optional ? ['[', ']'] : ['<', '>']
  return command
    .argument(
      `${open}verb${close}`,
      'a verb such as get, list, create, impersonate, escalate; for a path the lower-case HTTP method',
    )
    .argument(
      `${open}resource${close}`,
      'plural, singular, short name or kind, optionally with .group and /name; or a path such as /metrics',
    )
    .optionsGroup('Request:')
    .addOption(new Option('-n, --namespace <name>', 'namespace (default: of the context, else default)'))
    .addOption(new Option('-A, --all-namespaces', 'check all namespaces').default(false))
    .addOption(new Option('--subresource <name>', 'subresource such as log or status'))
}

/** Adds the flags that name the source of roles and bindings. */
export function addSourceFlags(command: Command): Command {
  return command
    .optionsGroup('Roles and bindings:')
    .addOption(
      new Option('-f, --filename <path>', 'files or folders, or -; may be repeated; default: read from the server')
        .default([], 'none')
        .argParser(append),
    )
    .addOption(new Option('--no-bootstrap-roles', 'with files: exclude the bootstrap roles and bindings of every cluster'))
    .addOption(
      new Option('--release <release>', 'with files: Kubernetes release of the bootstrap roles and of the names of resources')
        .default(defaultRelease)
        .argParser(emulatedVersion),
    )
    .addOption(new Option('--kubeconfig <file>', 'kubeconfig of the server (default: like kubectl)'))
    .addOption(new Option('--context <name>', 'context of the kubeconfig'))
}

export function addSubjectFlags(command: Command, about: string): Command {
  return command
    .optionsGroup('User:')
    .addOption(new Option('--as <user>', `${about}; system:serviceaccount:NAMESPACE:NAME for a service account`))
    .addOption(new Option('--as-group <name>', 'group of the user; may be repeated').default([], 'none').argParser(append))
}

export function addOutputFlags(command: Command, fine: string, findings: string): Command {
  return command
    .optionsGroup('Output:')
    .addOption(new Option('-o, --output <form>', 'output format').choices(['text', 'json']).default('text'))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp(fine, findings))
}
