import { ResourceClaimPart } from '../../../handles/parts/resource-v1beta1.generated.ts'
import { genericStrategy } from '../../generic/strategy.ts'

export const resourceClaimStrategy = /* @__PURE__ */ genericStrategy({ part: ResourceClaimPart, namespaced: true, status: true })
