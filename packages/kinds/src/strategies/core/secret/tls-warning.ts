import { BaseError } from '@krmkit/base'
import { DerReader, tags } from '@krmkit/base/der'
import { base64ToBytes } from '@krmkit/schema/decode'
import { goList } from '../../shared/go-form.ts'

/** Texts before the first block, or between two, are ignored. */
const boundary = /^-----(BEGIN|END) (.*?)-----[ \t\r]*$/

interface Block {
  readonly label: string
  readonly base64: string
}

/** The complete PEM blocks of a text, in order. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let open: string | undefined
  let lines: string[] = []
  for (const line of text.split('\n')) {
    const [, side, label] = boundary.exec(line) ?? []
    if (side === 'BEGIN') {
      open = label
      lines = []
    } else if (side === 'END') {
      const base64 = lines.join('')
      if (open !== undefined && open === label && isBase64(base64)) blocks.push({ label: open, base64 })
      open = undefined
    } else if (!line.includes(':')) lines.push(line.trim())
  }
  return blocks
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

const isPrivateKey = (label: string): boolean => label === 'PRIVATE KEY' || label.endsWith(' PRIVATE KEY')

/**
 * The warning for a TLS secret whose certificate or key is no PEM data, or whose certificate is only a placeholder, in the words of
 * kube-apiserver; `undefined` for others.
 * Differs: kube-apiserver also warns of certificates that are malformed inside, and of a key that does not belong to the certificate.
 *
 * @param certificate content of `tls.crt`
 * @param key content of `tls.key`
 */
export function tlsWarning(certificate: string, key: string): string | undefined {
  const certificates = blocksOf(certificate)
  const leaf = certificates.find(({ label }) => label === 'CERTIFICATE')
  if (leaf === undefined) return certificateWarning(certificates.map(({ label }) => label))
  const keys = blocksOf(key).map(({ label }) => label)
  return keys.some(isPrivateKey) ? placeholderWarning(leaf.base64) : keyWarning(keys)
}

/** The certificate is a sequence that begins with another one. */
function placeholderWarning(base64: string): string | undefined {
  let part = 'certificate'
  try {
    const members = new DerReader(base64ToBytes(base64), part).into(tags.sequence)
    part = 'tbs certificate'
    members.next(tags.sequence)
    return undefined
  } catch (error) {
    if (error instanceof BaseError) return `x509: malformed ${part}`
    throw error
  }
}

function certificateWarning(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in certificate input'
  if (skipped.length === 1 && skipped[0]?.endsWith('PRIVATE KEY') === true)
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${goList(skipped)}`
}

function keyWarning(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in key input'
  if (skipped.length === 1 && skipped[0] === 'CERTIFICATE')
    return 'tls: found a certificate rather than a key in the PEM for the private key'
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${goList(skipped)}`
}
