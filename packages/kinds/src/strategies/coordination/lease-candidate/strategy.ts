import { LeaseCandidatePart } from '../../../handles/parts/coordination-v1alpha2.generated.ts'
import { genericStrategy } from '../../generic/strategy.ts'

export const leaseCandidateStrategy = /* @__PURE__ */ genericStrategy({ part: LeaseCandidatePart, namespaced: true })
