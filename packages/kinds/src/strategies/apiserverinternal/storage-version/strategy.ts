import { StorageVersionPart } from '../../../handles/parts/apiserverinternal-v1alpha1.generated.ts'
import { genericStrategy } from '../../generic/strategy.ts'

export const storageVersionStrategy = /* @__PURE__ */ genericStrategy({
  part: StorageVersionPart,
  namespaced: false,
  status: true,
})
