import { type Command, InvalidArgumentError, Option } from '../commander.ts'
import { duration } from '../flag-values.ts'
import { type AuthorizationMode, authorizationModes } from './options.ts'

/** Adds the flags that say who may do what; named as those of kube-apiserver. */
export function addAuthorizationFlags(command: Command): Command {
  command.optionsGroup('Who may do what:')
  for (const option of options()) command.addOption(option)
  return command
}

function options(): Option[] {
  return [
    option(
      '--authorization-mode <modes>',
      `comma-separated, asked in order, of ${authorizationModes.join(', ')}; SystemMasters: group system:masters may do everything, others read discovery and health; RBAC makes the roles and bindings that every cluster has`,
    )
      .default(['Node', 'RBAC'])
      .argParser(modes),
    option(
      '--authorization-config <file>',
      'AuthorizationConfiguration, followed while it changes: authorizers in order, any number of webhooks; instead of --authorization-mode and --authorization-webhook-*',
    ),
    option('--authorization-policy-file <file>', 'policies of mode ABAC, one JSON object a line'),
    option('--authorization-webhook-config-file <file>', 'kubeconfig that leads to the webhook of mode Webhook'),
    option('--authorization-webhook-version <version>', 'version of the reviews that it is asked with')
      .choices(['v1', 'v1beta1'])
      .default('v1beta1'),
    option('--authorization-webhook-cache-authorized-ttl <duration>', 'how long rights that it gave are remembered')
      .default(300_000, '5m0s')
      .argParser(duration),
    option('--authorization-webhook-cache-unauthorized-ttl <duration>', 'how long its refusals are remembered')
      .default(30_000, '30s')
      .argParser(duration),
  ]
}

function option(flags: string, description: string): Option {
  return new Option(flags, description)
}

/** Each mode at most once, and none beside those that leave nothing to decide. */
function modes(text: string): readonly AuthorizationMode[] {
  const names = text.split(',')
  for (const [i, name] of names.entries()) {
    if (!authorizationModes.includes(name as AuthorizationMode)) {
      throw new InvalidArgumentError(`It must be one of ${authorizationModes.join(', ')}.`)
    }
    if (names.indexOf(name) !== i) throw new InvalidArgumentError(`It names ${name} twice.`)
  }
  return names as AuthorizationMode[]
}
