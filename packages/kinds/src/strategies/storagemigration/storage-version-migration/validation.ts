/** Rules of StorageVersionMigration. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { validateDns1035Label, validateDns1123Subdomain } from '@krmkit/meta/names'
import type { StorageVersionMigration } from '../../../types/storagemigration-v1alpha1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata } from '../../shared/metadata.ts'
import { isEmpty } from '../../shared/values.ts'

export { validateStatusUpdate } from './status.ts'

type Migration = DeepReadonly<StorageVersionMigration>

export function* validateMigration(migration: Migration, errors: ContextErrorList): Work {
  yield* validateMetadata(migration, errors, { namespaced: false })
  const at = errors.child('spec').child('resource')
  if (isLater(errors)) {
    validateResource(migration.spec?.resource ?? {}, at)
    return
  }
  for (const member of ['resource', 'version'] as const)
    if (isEmpty(migration.spec?.resource?.[member])) at.child(member).required(`${member} is required`)
}

/** Since 1.35 a migration names a resource of a group; the version is the newest one. */
export function isLater({ context }: ContextErrorList): boolean {
  return context.features.release.atLeast('1.35')
}

function validateResource(
  { group = '', resource = '' }: { readonly group?: string; readonly resource?: string },
  at: FieldPath,
): void {
  const problems = validateDns1035Label(resource)
  if (resource === '') at.child('resource').required('resource is required to be set')
  else if (problems.length > 0) at.child('resource').invalid(resource, problems.join(','))
  const ofGroup = group === '' ? [] : validateDns1123Subdomain(group)
  if (ofGroup.length > 0) at.child('group').invalid(group, ofGroup.join(','))
}

export function validateImmutableFields(migration: Migration, old: Migration, errors: ContextErrorList): void {
  if (isLater(errors)) {
    const same = (['group', 'resource'] as const).every(
      (member) => (migration.spec?.resource?.[member] ?? '') === (old.spec?.resource?.[member] ?? ''),
    )
    if (!same) errors.child('spec').invalid(migration.spec ?? {}, 'field is immutable')
    return
  }
  const [resource, before] = [migration, old].map(({ spec }) => spec?.resource)
  // kube-apiserver leaves out the parents in the paths of its errors.
  for (const member of ['group', 'version', 'resource'] as const) {
    const text = resource?.[member] ?? ''
    if (text !== (before?.[member] ?? '')) errors.child(member).invalid(text, 'field is immutable')
  }
}
