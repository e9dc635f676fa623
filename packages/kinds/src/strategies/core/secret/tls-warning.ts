import { goList } from '../../shared/go-form.ts'

/** Texts before the first block, or between two, are ignored. */
const boundary = /^-----(BEGIN|END) (.*?)-----[ \t\r]*$/

/** Labels of the complete PEM blocks of a text, in order. */
function blockLabels(text: string): string[] {
  const labels: string[] = []
  let open: string | undefined
  for (const line of text.split('\n')) {
    const [, side, label] = boundary.exec(line) ?? []
    if (side === 'BEGIN') open = label
    else if (side === 'END') {
      if (open !== undefined && open === label) labels.push(open)
      open = undefined
    }
  }
  return labels
}

const isPrivateKey = (label: string): boolean => label === 'PRIVATE KEY' || label.endsWith(' PRIVATE KEY')

/**
 * The warning for a TLS secret whose certificate or key is no PEM data, in the words of the stock server; `undefined` when both are.
 * Differs: the stock server also warns of a key that does not belong to the certificate.
 *
 * @param certificate content of `tls.crt`
 * @param key content of `tls.key`
 */
export function tlsWarning(certificate: string, key: string): string | undefined {
  const certificates = blockLabels(certificate)
  if (!certificates.includes('CERTIFICATE')) return certificateWarning(certificates)
  const keys = blockLabels(key)
  return keys.some(isPrivateKey) ? undefined : keyWarning(keys)
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
