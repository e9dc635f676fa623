/**
 * Whom a certificate request names, read from its outer form alone. That its signature holds is the business of who signs.
 *
 * @see RFC 2986, 4.1; RFC 5280, 4.1.2.4
 */
export interface RequestSubject {
  /** The last one, as usual. Empty when there is none. */
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** @param request `spec.request` of a CertificateSigningRequest: base64 of PEM. @returns undefined when it cannot be read */
export function readRequestSubject(request: string): RequestSubject | undefined {
  const der = bytesOf(request)
  const info = der === undefined ? undefined : elementsOf(elementsOf(der)?.[0]?.content)?.[0]
  const subject = elementsOf(info?.content)?.[1]
  if (info?.tag !== sequence || subject?.tag !== sequence) return undefined
  let commonName = ''
  const organizations: string[] = []
  for (const set of elementsOf(subject.content) ?? []) {
    for (const attribute of elementsOf(set.content) ?? []) {
      const [type, value] = elementsOf(attribute.content) ?? []
      if (type === undefined || value === undefined) return undefined
      const name = Buffer.from(type.content).toString('hex')
      if (name === commonNameType) commonName = textOf(value)
      else if (name === organizationType) organizations.push(textOf(value))
    }
  }
  return { commonName, organizations }
}

const sequence = 0x30
const wideText = 0x1e
const narrowText = 0x14
/** 2.5.4.3 and 2.5.4.10 */
const commonNameType = '550403'
const organizationType = '55040a'

interface Element {
  readonly tag: number
  readonly content: Uint8Array
}

function bytesOf(request: string): Uint8Array | undefined {
  const pem = Buffer.from(request, 'base64').toString('latin1')
  const begin = pem.indexOf('-----BEGIN CERTIFICATE REQUEST-----')
  const end = pem.indexOf('-----END CERTIFICATE REQUEST-----', begin)
  if (begin < 0 || end < 0) return undefined
  return Buffer.from(pem.slice(pem.indexOf('\n', begin), end), 'base64')
}

function textOf({ tag, content }: Element): string {
  if (tag === wideText) return new TextDecoder('utf-16be').decode(content)
  return new TextDecoder(tag === narrowText ? 'latin1' : 'utf-8').decode(content)
}

/** The elements that follow one another in `bytes`; undefined when they are malformed. */
function elementsOf(bytes: Uint8Array | undefined): readonly Element[] | undefined {
  if (bytes === undefined) return undefined
  const elements: Element[] = []
  for (let at = 0; at < bytes.length; ) {
    const [tag, first] = [bytes[at], bytes[at + 1]]
    if (tag === undefined || first === undefined) return undefined
    const size = first < 0x80 ? 0 : first - 0x80
    if (first === 0x80 || size > 4) return undefined
    const length = size === 0 ? first : bytes.subarray(at + 2, at + 2 + size).reduce((sum, byte) => sum * 256 + byte, 0)
    const start = at + 2 + size
    if (start + length > bytes.length) return undefined
    elements.push({ tag, content: bytes.subarray(start, start + length) })
    at = start + length
  }
  return elements
}
