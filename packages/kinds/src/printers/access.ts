import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../interfaces.ts'
import type { APIService, APIServiceStatus } from '../types/apiregistration-v1.generated.ts'
import type { CertificateSigningRequest, CertificateSigningRequestStatus } from '../types/certificates-v1.generated.ts'
import type { ClusterTrustBundle } from '../types/certificates-v1beta1.generated.ts'
import type { ClusterRoleBinding, RoleBinding, Subject } from '../types/rbac-v1.generated.ts'
import { ageColumn, column, nameColumn, wide } from './columns.ts'
import { humanDuration, since } from './duration.ts'

/** Who may do what, and how callers come to be trusted. */

/** Bindings of both scopes. */
export const bindingPrinter: Printer<RoleBinding | ClusterRoleBinding> = {
  columns: [
    nameColumn,
    column('Role', 'string', 'Role whose rights are given.'),
    ageColumn,
    wide('Users', 'string', 'Users who get them.'),
    wide('Groups', 'string', 'Groups that get them.'),
    wide('ServiceAccounts', 'string', 'Service accounts that get them.'),
  ],
  cells({ metadata, roleRef, subjects }, { now }) {
    const of = (kind: string) => (subjects ?? []).filter((subject) => subject.kind === kind)
    const names = (kind: string) => of(kind).map(({ name }) => name)
    return [
      metadata.name ?? '',
      `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`,
      since(metadata.creationTimestamp, now),
      names('User').join(', '),
      names('Group').join(', '),
      of('ServiceAccount').map(accountName).join(', '),
    ]
  },
}

export const certificateSigningRequestPrinter: Printer<CertificateSigningRequest> = {
  columns: [
    nameColumn,
    ageColumn,
    column('SignerName', 'string', 'Signer that is asked.'),
    column('Requestor', 'string', 'User who asks.'),
    column('RequestedDuration', 'string', 'How long the certificate is to be valid.'),
    column('Condition', 'string', 'What became of the request.'),
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    since(metadata.creationTimestamp, now),
    spec?.signerName || '<none>',
    spec?.username ?? '',
    spec?.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000),
    requestState(status),
  ],
}

export const clusterTrustBundlePrinter: Printer<ClusterTrustBundle> = {
  columns: [nameColumn, column('SignerName', 'string', 'Signer whose roots are in the bundle.')],
  cells: ({ metadata, spec }) => [metadata.name ?? '', spec?.signerName || '<none>'],
}

export const apiServicePrinter: Printer<APIService> = {
  columns: [
    nameColumn,
    column('Service', 'string', 'Service that answers for the group version.'),
    column('Available', 'string', 'Whether it answers.'),
    ageColumn,
  ],
  cells({ metadata, spec, status }, { now }) {
    const service = spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local'
    return [metadata.name ?? '', service, availability(status), since(metadata.creationTimestamp, now)]
  },
}

function accountName({ namespace, name }: DeepReadonly<Subject>): string {
  return namespace ? `${namespace}/${name}` : name
}

/** Denial beats approval; failure and issue are told beside either. */
function requestState(status: DeepReadonly<CertificateSigningRequestStatus> | undefined): string {
  const has = (type: string) => status?.conditions?.some((condition) => condition.type === type) ?? false
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${decision}${has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`
}

function availability(status: DeepReadonly<APIServiceStatus> | undefined): string {
  const condition = status?.conditions?.find(({ type }) => type === 'Available')
  if (condition === undefined) return 'Unknown'
  return condition.status !== 'True' && condition.reason ? `${condition.status} (${condition.reason})` : condition.status
}
