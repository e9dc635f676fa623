import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn, wide } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { ClusterRoleBinding, RoleBinding, Subject } from '../../../types/rbac-v1.generated.ts'

/** Serves RoleBinding and ClusterRoleBinding. */
export const bindingPrinter: Printer<RoleBinding | ClusterRoleBinding> = {
  columns: [
    nameColumn,
    column('Role', 'string', 'Role that the binding grants.'),
    ageColumn,
    wide('Users', 'string', 'Users in the binding.'),
    wide('Groups', 'string', 'Groups in the binding.'),
    wide('ServiceAccounts', 'string', 'Service accounts in the binding.'),
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

function accountName({ namespace, name }: DeepReadonly<Subject>): string {
  return `${namespace ?? ''}/${name}`
}
