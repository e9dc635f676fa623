import { type DerElement, DerReader, malformedDer, readBoolean, readOid, readText, tags } from '@krmkit/base/der'

/** Fields of a certificate that `X509Certificate` of Node does not expose: extensions, and the subject attribute by attribute. */

export interface Extension {
  readonly oid: string
  readonly critical: boolean
  /** DER of its value. */
  readonly value: Uint8Array
}

/** Values of the subject by attribute type (dotted object identifier), in order of appearance. */
export type SubjectAttributes = ReadonlyMap<string, readonly string[]>

const versionTag = 0xa0
const extensionsTag = 0xa3
const fieldsBeforeSubject = 4

/** Reads the extensions of a DER certificate. @throws BaseError `InvalidDer` */
export function extensionsOf(certificate: Uint8Array): Extension[] {
  const fields = certificateFields(certificate).find(({ tag }) => tag === extensionsTag)
  if (fields === undefined) return []
  const list = new DerReader(fields.content, 'extensions').into(tags.sequence)
  const extensions: Extension[] = []
  while (!list.isEmpty) {
    const extension = list.into(tags.sequence)
    const oid = readOid(extension.next(tags.oid), 'extension')
    const critical = extension.optional(tags.boolean)
    const { content: value } = extension.next(tags.octetString)
    extension.end()
    extensions.push({ oid, critical: critical !== undefined && readBoolean(critical, 'extension'), value })
  }
  return extensions
}

/**
 * Reads the subject of a DER certificate.
 *
 * @throws BaseError `InvalidDer` when the subject or one of its values cannot be parsed. Skipping an attribute would
 *   authenticate a different user.
 */
export function subjectAttributesOf(certificate: Uint8Array): SubjectAttributes {
  const fields = certificateFields(certificate)
  const subject = fields[fieldsBeforeSubject + (fields[0]?.tag === versionTag ? 1 : 0)]
  if (subject?.tag !== tags.sequence) throw malformedDer('subject: not a name')
  const attributes = new Map<string, string[]>()
  const names = new DerReader(subject.content, 'subject')
  while (!names.isEmpty) {
    const set = names.into(tags.set)
    while (!set.isEmpty) {
      const attribute = set.into(tags.sequence)
      const type = readOid(attribute.next(tags.oid), 'subject')
      const value = readText(attribute.next(), 'subject')
      attribute.end()
      if (value === undefined) throw malformedDer('subject: attribute value is not a string')
      const values = attributes.get(type)
      if (values === undefined) attributes.set(type, [value])
      else values.push(value)
    }
  }
  return attributes
}

/** Returns the fields of TBSCertificate, in order. */
function certificateFields(certificate: Uint8Array): DerElement[] {
  const body = new DerReader(certificate, 'certificate').into(tags.sequence).into(tags.sequence)
  const fields: DerElement[] = []
  while (!body.isEmpty) fields.push(body.next())
  return fields
}
