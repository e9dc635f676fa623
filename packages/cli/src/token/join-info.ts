import {
  type BootstrapSigningKey,
  formatBootstrapToken,
  parseBootstrapToken,
  parsePublicKeyPin,
} from '@krmkit/certificates/bootstrap'
import { kubeconfigText } from '@krmkit/client'
import type { Clock } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import { writeSecret } from '../files.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { discoverCluster } from './discovery.ts'
import { readArgument } from './tokens.ts'

export interface JoinInfoFlags {
  readonly token: string
  readonly discoveryTokenCaCertHash: readonly string[]
  readonly discoveryTokenUnsafeSkipCaVerification: boolean
  readonly bootstrapSigningKey: BootstrapSigningKey
  readonly writeKubeconfig?: string
  /** Milliseconds. */
  readonly timeout: number
}

/** Runs `krmkit join-info`. @returns the exit code. @throws CliError, CertificateError, ApiError, ClientError */
export async function runJoinInfo(
  server: string,
  flags: JoinInfoFlags,
  { terminal, clock }: { readonly terminal: Terminal; readonly clock: Clock },
): Promise<number> {
  const token = parseBootstrapToken(readArgument(flags.token, terminal))
  const pins = flags.discoveryTokenCaCertHash.map(parsePublicKeyPin)
  if (pins.length === 0 && !flags.discoveryTokenUnsafeSkipCaVerification) {
    const message =
      'pin the authority of the cluster with --discovery-token-ca-cert-hash, or trust any server that knows the token with --discovery-token-unsafe-skip-ca-verification'
    throw new CliError({ code: 'InvalidFlag', message })
  }
  const found = await discoverCluster({
    server: urlOf(server),
    token,
    pins,
    signingKey: flags.bootstrapSigningKey,
    timeoutMs: flags.timeout,
    clock,
  })
  const { authority } = found
  const names = { user: 'tls-bootstrap-token-user', cluster: 'kubernetes' }
  const text = kubeconfigText({ server: found.server, authority, token: formatBootstrapToken(token), names })
  if (flags.writeKubeconfig === undefined) terminal.out(text)
  else {
    await writeSecret(flags.writeKubeconfig, text)
    terminal.err(`krmkit: wrote ${flags.writeKubeconfig} for ${found.server}\n`)
  }
  return exitCodes.success
}

/** Completes `host:port` to a URL. @throws CliError `InvalidFlag` */
function urlOf(server: string): string {
  const url = server.includes('://') ? server : `https://${server}`
  if (url.startsWith('https://') && URL.canParse(url)) return url.replace(/\/+$/, '')
  throw new CliError({ code: 'InvalidFlag', message: 'the server must be HOST:PORT or an https URL' })
}
