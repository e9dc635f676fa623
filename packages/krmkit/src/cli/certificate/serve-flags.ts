import { type Command, InvalidArgumentError, Option } from '../commander.ts'
import { duration, flag } from '../flag-values.ts'

/** Signers that can have an authority of their own: part of their flags, and what they sign. */
const signers = [
  ['kube-apiserver-client', 'client certificates of users'],
  ['kubelet-client', 'client certificates of nodes'],
  ['kubelet-serving', 'serving certificates of nodes'],
  ['legacy-unknown', 'requests of signer legacy-unknown'],
] as const

const hourMs = 3_600_000
const defaultDurationMs = 8760 * hourMs

/** Adds the flags of `serve` that say who signs certificates; named as those of kube-controller-manager. */
export function addSigningFlags(command: Command): Command {
  command
    .optionsGroup('Signing certificates:')
    .addOption(
      new Option(
        '--cluster-signing-cert-file <file>',
        'PEM authority that signs; default: one that is made, kept beside the certificate and believed like those of --client-ca-file',
      ),
    )
    .addOption(new Option('--cluster-signing-key-file <file>', 'its PEM key'))
    .addOption(
      new Option('--cluster-signing-duration <duration>', 'longest life of what is signed')
        .default(defaultDurationMs, '8760h0m0s')
        .argParser(life),
    )
    .addOption(
      new Option('--report-signing-failures [bool]', 'give requests that are not signed the condition Failed, which says why')
        .default(false)
        .argParser(flag),
    )
  for (const [name, what] of signers) {
    command
      .addOption(new Option(`--cluster-signing-${name}-cert-file <file>`, `PEM authority of ${what} alone`))
      .addOption(new Option(`--cluster-signing-${name}-key-file <file>`, 'its PEM key'))
  }
  return command
}

function life(text: string): number {
  const ms = duration(text)
  if (ms > 0) return ms
  throw new InvalidArgumentError('It must be longer than nothing.')
}
