import { ResourceClaimTemplatePart } from '../../handles/parts/resource-v1beta1.generated.ts'
import { genericStrategy } from '../generic/strategy.ts'

export const resourceClaimTemplateStrategy = /* @__PURE__ */ genericStrategy({
  part: ResourceClaimTemplatePart,
  namespaced: true,
})
