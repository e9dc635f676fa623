/** ResourcePoolStatusRequest: a question for the devices of pools, which a controller answers in the status. */
import { semanticEqual } from '../../shared/equality.direct.ts'
import { statusKind } from '../../shared/status-kind.ts'
import { isSet } from '../../shared/values.ts'

export const resourcePoolStatusRequestStrategy = /* @__PURE__ */ statusKind({
  namespaced: false,
  startsWithoutStatus: true,
  gates: [{ gate: 'DRAPartitionableDevicesType', paths: ['spec.defaultPartitionTypeAttribute'] }],
  checksConditions: (old) => !isSet(old['status']),
  validateStatus(object, old, errors) {
    if (isSet(old['status']) && !semanticEqual(object['status'], old['status']))
      errors.child('status').invalid(object['status'] ?? null, 'field is immutable')
  },
})
