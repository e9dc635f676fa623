import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { humanDuration, since } from '../../../printers/duration.ts'
import type { CertificateSigningRequest, CertificateSigningRequestStatus } from '../../../types/certificates-v1.generated.ts'

export const certificateSigningRequestPrinter: Printer<CertificateSigningRequest> = {
  columns: [
    nameColumn,
    ageColumn,
    column('SignerName', 'string', 'Requested signer.'),
    column('Requestor', 'string', 'User who created the request.'),
    column('RequestedDuration', 'string', 'Requested validity of the certificate.'),
    column('Condition', 'string', 'State of the request.'),
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    since(metadata.creationTimestamp, now),
    spec?.signerName || '<none>',
    spec?.username ?? '',
    spec?.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000),
    conditionText(status),
  ],
}

/** Denied takes precedence over Approved; Failed and Issued are appended. */
function conditionText(status: DeepReadonly<CertificateSigningRequestStatus> | undefined): string {
  const has = (type: string) => status?.conditions?.some((condition) => condition.type === type) ?? false
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${decision}${has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`
}
