import type { CertificateRequest } from '@krmkit/certificates'
import { type CertificateInfo, formatDistinguishedName, type PublicKeyInfo } from '@krmkit/certificates/request'
import { formatTime, stockProfile } from '@krmkit/meta'
import { prettyJson } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { type Input, readInputs } from './inputs.ts'
import { requestProblem, type SignerFlags, type SignerVerdict, signerAndUsages, signerVerdicts } from './signer-verdict.ts'

export interface InspectFlags extends SignerFlags {
  readonly output: 'text' | 'json'
}

/** The printed facts of one input. */
interface Inspection {
  readonly where: string
  readonly kind: Input['kind']
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly verdicts: readonly SignerVerdict[]
  readonly isFine: boolean
}

/** Runs `krmkit certificate inspect`. @returns the exit code */
export function runInspect(paths: readonly string[], flags: InspectFlags, terminal: Terminal): number {
  const all = readInputs(paths, terminal).map((input) => inspect(input, flags))
  if (flags.output === 'json') terminal.out(`${prettyJson(all.map(forPrograms))}\n`)
  else terminal.out(all.map((inspection) => forPeople(inspection, terminal)).join('\n'))
  return all.every(({ isFine }) => isFine) ? exitCodes.success : exitCodes.findings
}

function inspect(input: Input, flags: InspectFlags): Inspection {
  const { where, kind } = input
  if (input.kind === 'unreadable') return { where, kind, facts: [['fault', input.message]], verdicts: [], isFine: false }
  if (input.kind === 'certificate') return { where, kind, facts: certificateFacts(input.certificate), verdicts: [], isFine: true }
  const verdicts = signerVerdicts(input, flags, stockProfile)
  const { usages } = signerAndUsages(input.object, flags, stockProfile)
  const { expirationSeconds, username } = input.object?.spec ?? {}
  const facts: (readonly [string, string])[] = [...requestFacts(input.request)]
  if (usages !== undefined) facts.push(['usages', usages.join(', ')])
  if (expirationSeconds !== undefined) facts.push(['validity', `${expirationSeconds} s`])
  if (username !== undefined) facts.push(['requester', username])
  return { where, kind, facts, verdicts, isFine: verdicts.some(({ objection }) => objection === undefined) }
}

function requestFacts(request: CertificateRequest): (readonly [string, string])[] {
  const { subject, names, publicKey, extensions, wantsAuthority } = request
  const ignored = extensions.map(({ oid }) => oid).filter((oid) => oid !== '2.5.29.17')
  return [
    ['subject', formatDistinguishedName(subject)],
    ['names', namesText(names)],
    ['key', keyText(publicKey)],
    ['signature', requestProblem(request) ?? 'good'],
    ...(ignored.length === 0 ? [] : [['ignored', ignored.join(', ')] as const]),
    ...(wantsAuthority ? [['warning', 'requests a certificate authority, which no signer issues'] as const] : []),
  ]
}

function certificateFacts(certificate: CertificateInfo): (readonly [string, string])[] {
  const { subject, issuer, names, publicKey, notBefore, notAfter, serialNumber } = certificate
  return [
    ['subject', formatDistinguishedName(subject)],
    ['issuer', formatDistinguishedName(issuer)],
    ['serial', Buffer.from(serialNumber).toString('hex')],
    ['valid', `${formatTime(notBefore)} to ${formatTime(notAfter)}`],
    ['names', namesText(names)],
    ['key', keyText(publicKey)],
  ]
}

function namesText({ dns, emails, ips, uris }: CertificateRequest['names']): string {
  const kinds = [
    ['DNS', dns],
    ['IP', ips],
    ['email', emails],
    ['URI', uris],
  ] as const
  return kinds.flatMap(([kind, values]) => values.map((value) => `${kind}:${JSON.stringify(value).slice(1, -1)}`)).join(', ')
}

function keyText(key: PublicKeyInfo): string {
  if (key.algorithm === 'RSA') return `RSA, ${key.bits} bits`
  if (key.algorithm === 'ECDSA') return `ECDSA, ${key.curve}`
  return key.algorithm === 'unknown' ? `unknown (${key.oid})` : key.algorithm
}

function forPrograms({ where, kind, facts, verdicts, isFine }: Inspection): object {
  const filled = facts.filter(([, value]) => value !== '')
  return { where, kind, fine: isFine, ...Object.fromEntries(filled), ...(kind === 'request' ? { signers: verdicts } : {}) }
}

function forPeople({ where, kind, facts, verdicts }: Inspection, terminal: Terminal): string {
  const paint = terminal.paint('out', 'auto')
  const lines = facts.filter(([, value]) => value !== '').map(([name, value]) => `  ${name.padEnd(14)} ${value}`)
  const verdictLines = verdicts.map(({ signer, objection, approval }) => {
    const verdict =
      objection === undefined ? `${paint.green('would sign')}; ${approval}` : `${paint.red('refuses')}: ${objection}`
    return `  ${signer}: ${verdict}`
  })
  return `${[paint.bold(`${where} [${kind}]`), ...lines, ...verdictLines].join('\n')}\n`
}
