import { StorageVersionMigrationPart } from '../../../handles/parts/storagemigration-v1alpha1.generated.ts'
import { genericStrategy } from '../../generic/strategy.ts'

export const storageVersionMigrationStrategy = /* @__PURE__ */ genericStrategy({
  part: StorageVersionMigrationPart,
  namespaced: false,
  status: true,
})
