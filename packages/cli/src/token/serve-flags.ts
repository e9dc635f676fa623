import { addOptionGroup, type Command, option } from '../commander.ts'
import { booleanOption } from '../flag-values.ts'
import { signingKeys } from './options.ts'

/** Adds the flags of bootstrap tokens to `serve`. */
export function addJoinFlags(command: Command): Command {
  return addOptionGroup(command, 'Controllers', [
    booleanOption(
      '--publish-cluster-info',
      'publish ConfigMap cluster-info, readable without authentication, and the RBAC rules of joining nodes, as kubeadm does',
      false,
    ),
    option(
      '--bootstrap-signing-key <key>',
      'key that signs cluster-info: the token secret, as kubeadm expects, or the full token',
    )
      .choices(signingKeys)
      .default('token-secret'),
  ])
}

/**
 * Selects the controllers to run.
 *
 * Differs: `--enable-bootstrap-token-auth` also enables the bootstrap signer and the token cleaner, unless they are excluded by name.
 */
export function selectControllers(options: {
  readonly controllers: readonly string[]
  readonly enableBootstrapTokenAuth: boolean
}): readonly string[] {
  const { controllers, enableBootstrapTokenAuth } = options
  if (!enableBootstrapTokenAuth || !controllers.includes('*')) return controllers
  const added = [
    ['bootstrap-signer-controller', 'bootstrapsigner'],
    ['token-cleaner-controller', 'tokencleaner'],
  ].filter((names) => !names.some((name) => controllers.includes(`-${name}`)))
  return [...controllers, ...added.map(([name = '']) => name)]
}
