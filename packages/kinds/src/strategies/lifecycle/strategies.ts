/** EvictionRequest, and Eviction of the group `lifecycle.k8s.io`, which answers it. */
import { conditionsOf, statusKind } from '../shared/status-kind.ts'

export const evictionRequestStrategy = /* @__PURE__ */ statusKind({ namespaced: true, hasGeneration: true })

const final = ['TargetEvicted', 'Failed']

export const evictionStrategy = /* @__PURE__ */ statusKind({
  namespaced: true,
  hasGeneration: true,
  validateStatus(object, old, errors) {
    const conditions = conditionsOf(object)
    for (const before of conditionsOf(old)) {
      if (!final.includes(before.type) || before.status !== 'True') continue
      const now = conditions.find(({ type }) => type === before.type)
      if (now === undefined || now.status === 'False' || now.reason !== before.reason)
        errors.child('status').child('conditions').invalid(conditions, `${before.type} condition status cannot be reverted`)
    }
  },
})
