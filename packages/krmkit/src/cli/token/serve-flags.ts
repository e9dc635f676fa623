import { type Command, Option } from '../commander.ts'
import { flag } from '../flag-values.ts'
import { signingKeys } from './options.ts'

/** Adds the flags of `serve` that say how nodes and users may join. */
export function addJoinFlags(command: Command): Command {
  return command
    .optionsGroup('Joining with bootstrap tokens:')
    .addOption(
      new Option(
        '--publish-cluster-info [bool]',
        'keep ConfigMap cluster-info in the public namespace, readable for everybody, with the rights of those who join, as kubeadm does',
      )
        .default(false)
        .argParser(flag),
    )
    .addOption(
      new Option(
        '--bootstrap-signing-key <key>',
        'what signs it: the secret of a token, as kubeadm expects it, or the full token',
      )
        .choices(signingKeys)
        .default('token-secret'),
    )
}

/**
 * Controllers that are to run.
 *
 * Differs: whoever lets bootstrap tokens in has them cleaned up and sign without naming these controllers, unless they are
 * switched off by name.
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
