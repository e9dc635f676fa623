/** StorageVersion. */
import type { StorageVersion } from '../../../types/apiserverinternal-v1alpha1.generated.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { keepMembers, resetStatusMetadata, validateMetadata } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'

/** Few servers have the kind. */
const rules = /* @__PURE__ */ lazyModule('the rules of storage versions', () => import('./validation.ts'))

export const storageVersionStrategy = /* @__PURE__ */ defineStrategy<StorageVersion>({
  allowUnconditionalUpdate: false,
  distinctEmpties: [['status', 'storageVersions', 'decodableVersions']],
  ready: rules.load,
  prepareForCreate(version) {
    version.status = {}
  },
  prepareForUpdate: (version, old) => keepMembers(version, old, 'status'),
  validate: /* @__PURE__ */ creationRules(function* (errors, version) {
    yield* validateMetadata(version, errors, { namespaced: false, name: rules.loaded().validateStorageVersionName })
    yield* rules.loaded().validateStatus(version.status, errors.child('status'))
  }),
  // The specification has no members, and the metadata are those that every kind has.
  validateUpdate: () => [],
  subresources: {
    status: {
      *prepareForUpdate(version, old) {
        yield* keepMembers(version, old, 'spec')
        yield* resetStatusMetadata(version, old)
      },
      validateUpdate: /* @__PURE__ */ updateRules(function* (errors, version) {
        yield* rules.loaded().validateStatus(version.status, errors.child('status'))
      }),
    },
  },
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
})
