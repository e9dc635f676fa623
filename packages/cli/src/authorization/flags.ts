import { addOptionGroup, type Command, InvalidArgumentError, option } from '../commander.ts'
import { durationOption } from '../flag-values.ts'
import { type AuthorizationMode, authorizationModes } from './options.ts'

/** Adds the authorization flags, named as those of kube-apiserver. */
export function addAuthorizationFlags(command: Command): Command {
  return addOptionGroup(command, 'Authorization', [
    option(
      '--authorization-mode <modes>',
      `comma-separated list of ${authorizationModes.join(', ')}, consulted in order. SystemMasters: full access for group system:masters, discovery and health for all others. RBAC creates the bootstrap roles and bindings`,
    )
      .default(['Node', 'RBAC'])
      .argParser(modes),
    option(
      '--authorization-config <file>',
      'AuthorizationConfiguration, reloaded when it changes: an ordered list of authorizers with any number of webhooks; excludes --authorization-mode and --authorization-webhook-*',
    ),
    option('--authorization-policy-file <file>', 'ABAC policies, one JSON object per line'),
    option('--authorization-webhook-config-file <file>', 'kubeconfig of the authorization webhook'),
    option('--authorization-webhook-version <version>', 'version of the SubjectAccessReview')
      .choices(['v1', 'v1beta1'])
      .default('v1beta1'),
    durationOption('--authorization-webhook-cache-authorized-ttl', 'cache duration of allowed requests', 300_000, '5m0s'),
    durationOption('--authorization-webhook-cache-unauthorized-ttl', 'cache duration of denied requests', 30_000, '30s'),
  ])
}

/** Parses the modes; each mode may be named once. */
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
