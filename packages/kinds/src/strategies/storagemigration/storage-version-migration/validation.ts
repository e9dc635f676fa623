/** Rules of StorageVersionMigration. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { StorageVersionMigration } from '../../../types/storagemigration-v1alpha1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { validateMetadata } from '../../shared/metadata.ts'
import { isEmpty } from '../../shared/values.ts'

export { validateStatusUpdate } from './status.ts'

type Migration = DeepReadonly<StorageVersionMigration>

export function* validateMigration(migration: Migration, errors: ContextErrorList): Work {
  yield* validateMetadata(migration, errors, { namespaced: false })
  const at = errors.child('spec').child('resource')
  for (const member of ['resource', 'version'] as const)
    if (isEmpty(migration.spec?.resource?.[member])) at.child(member).required(`${member} is required`)
}

export function validateImmutableFields(migration: Migration, old: Migration, errors: ContextErrorList): void {
  const [resource, before] = [migration, old].map(({ spec }) => spec?.resource)
  // kube-apiserver leaves out the parents in the paths of its errors.
  for (const member of ['group', 'version', 'resource'] as const) {
    const text = resource?.[member] ?? ''
    if (text !== (before?.[member] ?? '')) errors.child(member).invalid(text, 'field is immutable')
  }
}
