/** StorageVersionMigration. */
import type { DeepReadonly } from '@krmkit/meta'
import type { StorageVersionMigration } from '../../../types/storagemigration-v1alpha1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { keepMembers, resetStatusMetadata, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import type { Steps } from '../../shared/steps.ts'
import { creationSteps, defineStrategy, updateSteps } from '../../shared/strategy.ts'
import { isEmpty } from '../../shared/values.ts'
import { validateStatusUpdate } from './status.ts'

type Migration = DeepReadonly<StorageVersionMigration>

function* validateMigration(migration: Migration, errors: ContextErrorList): Steps {
  yield* validateMetadata(migration, errors, { namespaced: false })
  const at = errors.child('spec').child('resource')
  for (const member of ['resource', 'version'] as const)
    if (isEmpty(migration.spec?.resource?.[member])) at.child(member).required(`${member} is required`)
}

function validateImmutableFields(migration: Migration, old: Migration, errors: ContextErrorList): void {
  const [resource, before] = [migration, old].map(({ spec }) => spec?.resource)
  // The stock server leaves out the parents in the paths of its errors.
  for (const member of ['group', 'version', 'resource'] as const) {
    const text = resource?.[member] ?? ''
    if (text !== (before?.[member] ?? '')) errors.child(member).invalid(text, 'field is immutable')
  }
}

export const storageVersionMigrationStrategy = /* @__PURE__ */ defineStrategy<StorageVersionMigration>({
  allowUnconditionalUpdate: false,
  prepareForCreate(migration) {
    migration.status = {}
  },
  *prepareForUpdate(migration, old) {
    yield* keepMembers(migration, old, 'status')
  },
  validate: /* @__PURE__ */ creationSteps(function* (errors, migration) {
    yield* validateMigration(migration, errors)
  }),
  validateUpdate: /* @__PURE__ */ updateSteps(function* (errors, migration, old) {
    yield* validateMigration(migration, errors)
    yield* validateMetadataUpdate(migration, old, errors)
    validateImmutableFields(migration, old, errors)
  }),
  subresources: {
    status: {
      *prepareForUpdate(migration, old) {
        yield* keepMembers(migration, old, 'spec')
        yield* resetStatusMetadata(migration, old)
      },
      validateUpdate: /* @__PURE__ */ updateSteps(function* (errors, migration, old) {
        yield* validateMetadataUpdate(migration, old, errors)
        validateStatusUpdate(migration.status, old.status, errors.child('status'))
      }),
    },
  },
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
})
