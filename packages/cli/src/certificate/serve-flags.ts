import { addOptionGroup, type Command, InvalidArgumentError, option } from '../commander.ts'
import { booleanOption, duration } from '../flag-values.ts'

/** Signers with separate authorities: the part of their flag names, and the certificates that they sign. */
const signers = [
  ['kube-apiserver-client', 'client certificates of users'],
  ['kubelet-client', 'client certificates of nodes'],
  ['kubelet-serving', 'serving certificates of nodes'],
  ['legacy-unknown', 'requests of signer legacy-unknown'],
] as const

const hourMs = 3_600_000
const defaultDurationMs = 8760 * hourMs

/** Adds the flags of certificate signing to `serve`, named as those of kube-controller-manager. */
export function addSigningFlags(command: Command): Command {
  return addOptionGroup(command, 'Controllers', [
    option(
      '--cluster-signing-cert-file <file>',
      'PEM certificate of the signing authority; default: generated, stored in --cert-dir and trusted like --client-ca-file',
    ),
    option('--cluster-signing-key-file <file>', 'PEM private key of --cluster-signing-cert-file'),
    option('--cluster-signing-duration <duration>', 'maximum validity of signed certificates')
      .default(defaultDurationMs, '8760h0m0s')
      .argParser(positiveDuration),
    booleanOption(
      '--report-signing-failures',
      'add the condition Failed, with the reason, to requests that cannot be signed',
      true,
    ),
    booleanOption(
      '--require-key-encipherment',
      'approve and sign certificates of nodes only with the usage key encipherment',
      false,
    ),
    ...signers.flatMap(([name, certificates]) => [
      option(`--cluster-signing-${name}-cert-file <file>`, `PEM certificate of the authority that signs ${certificates}`),
      option(`--cluster-signing-${name}-key-file <file>`, `PEM private key of --cluster-signing-${name}-cert-file`),
    ]),
  ])
}

function positiveDuration(text: string): number {
  const ms = duration(text)
  if (ms > 0) return ms
  throw new InvalidArgumentError('It must be greater than zero.')
}
