import { ResourceClaimTemplatePart } from '../../handles/parts/resource-v1beta1.generated.ts'
import { genericStrategy } from '../generic/strategy.ts'
import { claimSpecGates } from './claim-gates.ts'

export const resourceClaimTemplateStrategy = /* @__PURE__ */ genericStrategy({
  part: ResourceClaimTemplatePart,
  namespaced: true,
  gatedFields: claimSpecGates('spec.spec'),
})
