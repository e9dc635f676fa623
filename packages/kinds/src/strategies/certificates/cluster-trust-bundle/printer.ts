import type { Printer } from '../../../interfaces.ts'
import { column, nameColumn } from '../../../printers/columns.ts'
import type { ClusterTrustBundle } from '../../../types/certificates-v1beta1.generated.ts'

export const clusterTrustBundlePrinter: Printer<ClusterTrustBundle> = {
  columns: [nameColumn, column('SignerName', 'string', 'Signer whose trust anchors the bundle contains.')],
  cells: ({ metadata, spec }) => [metadata.name ?? '', spec?.signerName || '<none>'],
}
