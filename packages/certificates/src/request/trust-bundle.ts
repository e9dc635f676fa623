import { DerReader, readBoolean, tags } from '../der/reader.ts'
import { type CertificateInfo, certificatePemType, decodeCertificate } from './certificate.ts'
import { encodeBase64, type PemBlock, readPemBlocks } from './pem.ts'

const basicConstraints = '2.5.29.19'

/** Whether a certificate says of itself that it may sign others (`CA:TRUE`). */
export function isAuthorityCertificate({ extensions }: Pick<CertificateInfo, 'extensions'>): boolean {
  const value = extensions.find(({ oid }) => oid === basicConstraints)?.value
  if (value === undefined) return false
  const flag = new DerReader(value, 'basicConstraints').into(tags.sequence).optional(tags.boolean)
  return flag !== undefined && readBoolean(flag, 'basicConstraints')
}

/** What is wrong with a text that should hold the certificates of authorities in PEM, each once. */
export function validateTrustBundle(pem: string): string[] {
  const blocks = readPemBlocks(pem)
  const faults = blocks.flatMap((block, index) => anchorFaults(block).map((fault) => `entry ${index} ${fault}`))
  if (faults.length > 0) return faults
  if (blocks.length === 0) return ['at least one trust anchor must be provided']
  const places = new Map<string, number[]>()
  for (const [index, { bytes }] of blocks.entries()) {
    const key = encodeBase64(bytes)
    places.set(key, [...(places.get(key) ?? []), index])
  }
  const repeated = [...places.values()].filter((indices) => indices.length > 1)
  return repeated.map((indices) => `duplicate trust anchor (indices [${indices.join(' ')}])`)
}

function anchorFaults({ type, hasHeaders, bytes }: PemBlock): string[] {
  if (type !== certificatePemType) return [`has bad block type: ${type}`]
  const headers = hasHeaders ? ['has PEM block headers'] : []
  try {
    return isAuthorityCertificate(decodeCertificate(bytes)) ? headers : [...headers, 'does not have the CA bit set']
  } catch {
    return [...headers, 'does not parse as X.509']
  }
}
