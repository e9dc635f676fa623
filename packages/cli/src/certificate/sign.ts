import {
  CertificateError,
  parseSigningAuthority,
  signRequest,
  validateSignerRequest,
  verifyRequestSignature,
} from '@krmkit/certificates'
import { encodeBase64 } from '@krmkit/certificates/request'
import { type Random, stockProfile } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import { readText } from '../files.ts'
import { printObjects } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { type Input, readInputs } from './inputs.ts'
import { signingRequestObject } from './request.ts'
import { type SignerFlags, signerAndUsages } from './signer-verdict.ts'

export interface SignFlags extends SignerFlags {
  readonly caCertFile: string
  readonly caKeyFile: string
  /** Milliseconds. */
  readonly duration: number
  readonly expirationSeconds?: number
  readonly output: 'pem' | 'yaml' | 'json'
}

/** Runs `krmkit certificate sign`. @returns the exit code */
export async function runSign(
  paths: readonly string[],
  flags: SignFlags,
  { terminal, random }: { readonly terminal: Terminal; readonly random: Pick<Random, 'bytes'> },
): Promise<number> {
  const authority = await authorityOf(flags)
  const signed: { readonly pem: string; readonly object: object }[] = []
  let isFine = true
  for (const input of readInputs(paths, terminal)) {
    try {
      signed.push(sign(input, flags, { authority, clock: terminal, random }))
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error
      isFine = false
      terminal.err(`${input.where}: not signed: ${error.message}\n`)
    }
  }
  if (flags.output === 'pem') terminal.out(signed.map(({ pem }) => pem).join(''))
  else if (signed.length > 0) {
    terminal.out(
      printObjects(
        signed.map(({ object }) => object),
        flags.output,
      ),
    )
  }
  return isFine ? exitCodes.success : exitCodes.findings
}

type Tools = Pick<Parameters<typeof signRequest>[1], 'authority' | 'clock' | 'random'>

function sign(input: Input, flags: SignFlags, tools: Tools): { readonly pem: string; readonly object: object } {
  if (input.kind === 'unreadable') throw new CertificateError({ code: 'Malformed', message: input.message })
  if (input.kind === 'certificate')
    throw new CertificateError({ code: 'Malformed', message: 'expected a request, found a certificate' })
  const { request, object } = input
  const { signer, usages = ['digital signature', 'client auth'] } = signerAndUsages(object, flags, stockProfile)
  const objection =
    signer === undefined ? undefined : validateSignerRequest({ request, signerName: signer, usages }, stockProfile)
  if (objection !== undefined) throw new CertificateError({ code: 'Refused', message: `${signer} refuses: ${objection}` })
  verifyRequestSignature(request)
  const expirationSeconds = object?.spec?.expirationSeconds ?? flags.expirationSeconds
  const pem = signRequest({ request, usages, expirationSeconds }, { ...tools, maxDurationMs: flags.duration })
  const certificate = encodeBase64(new TextEncoder().encode(pem))
  const around = object ?? signingRequestObject({ base64: input.base64, request, signer, usages })
  return { pem, object: { ...around, status: { ...object?.status, certificate } } }
}

async function authorityOf({ caCertFile, caKeyFile }: SignFlags) {
  const certificate = await readText(caCertFile, 'ca-cert-file')
  const key = await readText(caKeyFile, 'ca-key-file')
  try {
    return parseSigningAuthority({ certificate, key })
  } catch (cause) {
    if (!(cause instanceof CertificateError)) throw cause
    throw new CliError({ code: 'FileFailed', message: `--ca-cert-file: ${caCertFile}: ${cause.message}`, cause })
  }
}
