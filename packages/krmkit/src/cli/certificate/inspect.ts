import { type CertificateInfo, type CertificateRequest, formatDistinguishedName, type PublicKeyInfo } from '@krmkit/certificates'
import { formatTime, stockProfile } from '@krmkit/meta'
import { prettyJson } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { type Input, readInputs } from './inputs.ts'
import { askedOf, flawOf, type Question, type Verdict, verdictsOn } from './verdict.ts'

export interface InspectFlags extends Question {
  readonly output: 'text' | 'json'
}

/** What is told about one thing; in JSON as it stands. */
interface Told {
  readonly where: string
  readonly kind: Input['kind']
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly verdicts: readonly Verdict[]
  readonly isFine: boolean
}

/** Runs `krmkit certificate inspect`. @returns the exit code */
export function runInspect(paths: readonly string[], flags: InspectFlags, terminal: Terminal): number {
  const all = readInputs(paths, terminal).map((input) => tell(input, flags))
  if (flags.output === 'json') terminal.out(`${prettyJson(all.map(forPrograms))}\n`)
  else terminal.out(all.map((told) => forPeople(told, terminal)).join('\n'))
  return all.every(({ isFine }) => isFine) ? exitCodes.fine : exitCodes.findings
}

function tell(input: Input, flags: InspectFlags): Told {
  const { where, kind } = input
  if (input.kind === 'unreadable') return { where, kind, facts: [['fault', input.message]], verdicts: [], isFine: false }
  if (input.kind === 'certificate') return { where, kind, facts: certificateFacts(input.certificate), verdicts: [], isFine: true }
  const verdicts = verdictsOn(input, flags, stockProfile)
  const { usages } = askedOf(input.object, flags, stockProfile)
  const { expirationSeconds, username } = input.object?.spec ?? {}
  const facts: (readonly [string, string])[] = [...requestFacts(input.request)]
  if (usages !== undefined) facts.push(['usages', usages.join(', ')])
  if (expirationSeconds !== undefined) facts.push(['asks for', `${expirationSeconds} s`])
  if (username !== undefined) facts.push(['asked by', username])
  return { where, kind, facts, verdicts, isFine: verdicts.some(({ objection }) => objection === undefined) }
}

function requestFacts(request: CertificateRequest): (readonly [string, string])[] {
  const { subject, names, publicKey, extensions, wantsAuthority } = request
  const leftOut = extensions.map(({ oid }) => oid).filter((oid) => oid !== '2.5.29.17')
  return [
    ['subject', formatDistinguishedName(subject)],
    ['names', namesText(names)],
    ['key', keyText(publicKey)],
    ['signature', flawOf(request) ?? 'good'],
    ...(leftOut.length === 0 ? [] : [['not taken over', leftOut.join(', ')] as const]),
    ...(wantsAuthority ? [['warning', 'asks to be an authority, which nobody becomes this way'] as const] : []),
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

function forPrograms({ where, kind, facts, verdicts, isFine }: Told): object {
  const filled = facts.filter(([, value]) => value !== '')
  return { where, kind, fine: isFine, ...Object.fromEntries(filled), ...(kind === 'request' ? { signers: verdicts } : {}) }
}

function forPeople({ where, kind, facts, verdicts }: Told, terminal: Terminal): string {
  const paint = terminal.paint('out', 'auto')
  const lines = facts.filter(([, value]) => value !== '').map(([name, value]) => `  ${name.padEnd(14)} ${value}`)
  const said = verdicts.map(({ signer, objection, approval }) => {
    const verdict =
      objection === undefined ? `${paint.green('would sign')}; ${approval}` : `${paint.red('refuses')}: ${objection}`
    return `  ${signer}: ${verdict}`
  })
  return `${[paint.bold(`${where} [${kind}]`), ...lines, ...said].join('\n')}\n`
}
