/** Outer forms of certificate requests and of certificates. Signatures are not the business of this package. */
import { bitStringTag, decodeBase64, integerTag, readDer, readDerElements, readPemBlocks, sequenceTag } from './pem.ts'

const malformed = 'asn1: structure error: malformed certificate request'

/** What is wrong with a base64 text that should hold a PKCS#10 request in PEM. */
export function requestError(request: string | null | undefined): string | undefined {
  const [block] = readPemBlocks(textOf(request))
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST'
  const outer = readDer(block.bytes)
  if (outer === undefined || outer.tag !== sequenceTag) return malformed
  if (outer.rest.length > 0) return 'asn1: syntax error: trailing data'
  const parts = readDerElements(outer.content)
  const tags = parts?.map(({ tag }) => tag).join()
  if (parts === undefined || tags !== [sequenceTag, sequenceTag, bitStringTag].join()) return malformed
  const info = readDerElements(parts[0]!.content)
  const [version, subject, key] = info ?? []
  return version?.tag === integerTag && subject?.tag === sequenceTag && key?.tag === sequenceTag ? undefined : malformed
}

/** What is wrong with a base64 text that should hold certificates in PEM; nothing at all is fine. */
export function certificateError(certificate: string | null | undefined): string | undefined {
  const text = textOf(certificate)
  if (text === '') return undefined
  const blocks = readPemBlocks(text)
  for (const block of blocks) {
    if (block.type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(block.type)}`
    if (block.hasHeaders) return 'no PEM block headers are permitted'
    const certificates = readDerElements(block.bytes)
    if (certificates?.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates'
    const whole = certificates?.every(({ tag, content }) => tag === sequenceTag && readDerElements(content)?.length === 3)
    if (whole !== true) return 'x509: malformed certificate'
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

function textOf(base64: string | null | undefined): string {
  const bytes = decodeBase64(base64 ?? '')
  return bytes === undefined ? '' : new TextDecoder('latin1').decode(bytes)
}
