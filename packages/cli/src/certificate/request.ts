import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { type CertificateRequest, createCertificateRequest } from '@krmkit/certificates'
import { encodeBase64, readCertificateRequest } from '@krmkit/certificates/request'
import { stockProfile } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import { readText, writeSecret } from '../files.ts'
import { printObjects } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { type SignerFlags, signerAndUsages } from './signer-verdict.ts'

export interface RequestFlags extends SignerFlags {
  readonly commonName: string
  readonly organization: readonly string[]
  readonly dns: readonly string[]
  readonly ip: readonly string[]
  readonly keyFile: string
  readonly name?: string
  readonly expirationSeconds?: number
  readonly output: 'pem' | 'yaml' | 'json'
}

/** Runs `krmkit certificate request`. @returns the exit code */
export async function runRequest(flags: RequestFlags, terminal: Terminal): Promise<number> {
  const bad = flags.ip.find((address) => isIP(address) === 0)
  if (bad !== undefined) throw new CliError({ code: 'InvalidFlag', message: `--ip: ${JSON.stringify(bad)} is not an IP address` })
  const hasKey = existsSync(flags.keyFile)
  const { request, key } = createCertificateRequest({
    subject: { commonName: flags.commonName, organizations: flags.organization },
    names: { dns: flags.dns, ips: flags.ip },
    ...(hasKey ? { key: await readText(flags.keyFile, 'key-file') } : {}),
  })
  if (!hasKey) await writeSecret(flags.keyFile, key)
  if (flags.output === 'pem') {
    terminal.out(request)
    return exitCodes.success
  }
  const { signer, usages } = signerAndUsages(undefined, { ...flags, signer: flags.signer ?? clientSigner }, stockProfile)
  const object = signingRequestObject({
    base64: encodeBase64(new TextEncoder().encode(request)),
    request: readCertificateRequest(request),
    signer,
    usages: usages ?? ['digital signature', 'client auth'],
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.expirationSeconds === undefined ? {} : { expirationSeconds: flags.expirationSeconds }),
  })
  terminal.out(printObjects([object], flags.output))
  return exitCodes.success
}

const clientSigner = `${stockProfile.domain}/kube-apiserver-client`

/** Wraps a request in a CertificateSigningRequest. */
export function signingRequestObject(options: {
  readonly base64: string
  readonly request: CertificateRequest
  readonly signer: string | undefined
  readonly usages: readonly string[]
  readonly name?: string
  readonly expirationSeconds?: number
}): object {
  const { base64, request, signer = clientSigner, usages, expirationSeconds } = options
  const name = options.name ?? objectName(request.subject.commonName)
  return {
    apiVersion: `certificates.${stockProfile.apiDomain}/v1`,
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { request: base64, signerName: signer, usages, ...(expirationSeconds === undefined ? {} : { expirationSeconds }) },
  }
}

/** Derives an object name from a common name. */
function objectName(commonName: string): string {
  const plain = commonName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 200)
  return plain.replace(/^-|-$/g, '') || 'request'
}
