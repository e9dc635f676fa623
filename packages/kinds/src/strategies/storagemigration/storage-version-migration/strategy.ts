/** StorageVersionMigration. */
import type { StorageVersionMigration } from '../../../types/storagemigration-v1alpha1.generated.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { keepMembers, resetStatusMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'

/** Few servers have the kind. */
const rules = /* @__PURE__ */ lazyModule('the rules of storage version migrations', () => import('./validation.ts'))

export const storageVersionMigrationStrategy = /* @__PURE__ */ defineStrategy<StorageVersionMigration>({
  allowUnconditionalUpdate: false,
  ready: rules.load,
  prepareForCreate(migration) {
    migration.status = {}
  },
  prepareForUpdate: (migration, old) => keepMembers(migration, old, 'status'),
  validate: /* @__PURE__ */ creationRules(function* (errors, migration) {
    yield* rules.loaded().validateMigration(migration, errors)
  }),
  validateUpdate: /* @__PURE__ */ updateRules(function* (errors, migration, old) {
    yield* rules.loaded().validateMigration(migration, errors)
    yield* validateMetadataUpdate(migration, old, errors)
    rules.loaded().validateImmutableFields(migration, old, errors)
  }),
  subresources: {
    status: {
      *prepareForUpdate(migration, old) {
        yield* keepMembers(migration, old, 'spec')
        yield* resetStatusMetadata(migration, old)
      },
      validateUpdate: /* @__PURE__ */ updateRules(function* (errors, migration, old) {
        yield* validateMetadataUpdate(migration, old, errors)
        rules.loaded().validateStatusUpdate(migration.status, old.status, errors.child('status'))
      }),
    },
  },
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
})
