import type { Printer } from '../../../interfaces.ts'
import { column, nameColumn } from '../../../printers/columns.ts'
import { labelsText } from '../../../printers/text.ts'
import type { PodCertificateRequest } from '../../../types/certificates-v1.generated.ts'

const states = ['Issued', 'Denied', 'Failed']

export const podCertificateRequestPrinter: Printer<PodCertificateRequest> = {
  columns: [
    nameColumn,
    column('PodName', 'string', 'Pod that the certificate is for.'),
    column('ServiceAccountName', 'string', 'Service account of the pod.'),
    column('NodeName', 'string', 'Node of the pod.'),
    column('SignerName', 'string', 'Signer that is asked.'),
    column('State', 'string', 'Whether the request is pending, issued, denied or failed.'),
    column('UnverifiedUserAnnotations', 'string', 'Annotations for the signer.'),
  ],
  cells: ({ metadata, spec, status }) => [
    metadata.name ?? '',
    spec?.podName ?? '',
    spec?.serviceAccountName ?? '',
    spec?.nodeName ?? '',
    spec?.signerName ?? '',
    status?.conditions?.findLast(({ type }) => states.includes(type))?.type ?? 'Pending',
    labelsText(spec?.unverifiedUserAnnotations),
  ],
}
