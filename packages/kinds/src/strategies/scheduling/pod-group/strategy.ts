/** PodGroup and CompositePodGroup: pods that are scheduled together. */

import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { statusKind } from '../../shared/status-kind.ts'
import { isSet } from '../../shared/values.ts'

interface Group {
  readonly spec?: {
    readonly parentCompositePodGroupName?: string | null
    readonly workloadRef?: object | null
    readonly resourceClaims?: readonly { readonly name?: string }[] | null
  } | null
  readonly status?: { readonly resourceClaimStatuses?: readonly { readonly name?: string }[] | null } | null
}

const groupOf = (object: DeepReadonly<ApiObject>): Group => object as Group
const preemption = { gate: 'PodGroupPreemptionPolicy', paths: ['spec.preemptionPolicy'] }

export const podGroupStrategy = /* @__PURE__ */ statusKind(
  {
    namespaced: true,
    gates: [
      { gate: 'TopologyAwareWorkloadScheduling', paths: ['spec.schedulingConstraints'] },
      { gate: 'DRAWorkloadResourceClaims', paths: ['spec.resourceClaims'] },
      preemption,
      { gate: 'CompositePodGroup', paths: ['spec.parentCompositePodGroupName'] },
    ],
    statusGates: [
      { gate: 'DRAWorkloadResourceClaims', paths: ['status.resourceClaimStatuses'], usedBy: ['spec.resourceClaims'] },
    ],
    // biome-ignore lint/correctness/useYield: the rules of a kind are a generator.
    *validate(object, errors) {
      const { spec } = groupOf(object)
      if (isSet(spec?.parentCompositePodGroupName) && !isSet(spec.workloadRef))
        errors.child('spec').child('workloadRef').required('must be set when parentCompositePodGroupName is set')
    },
    validateStatus(object, _old, errors) {
      const { spec, status } = groupOf(object)
      const known = new Set(spec?.resourceClaims?.map(({ name }) => name))
      const at = errors.child('status').child('resourceClaimStatuses')
      for (const [i, { name = '' }] of (status?.resourceClaimStatuses ?? []).entries()) {
        if (!known.has(name)) at.index(i).child('name').invalid(name, 'must match the name of an entry in `spec.resourceClaims`')
      }
    },
  },
  {
    defaults(object, version, _profile, { features } = {}) {
      const { spec } = object as { spec?: { preemptionPolicy?: string } }
      const defaulted = version === 'v1beta1' || version === 'v1alpha3'
      if (defaulted && isSet(spec) && features !== undefined && gateEnabled('PodGroupPreemptionPolicy', features))
        spec.preemptionPolicy ??= 'PreemptLowerPriority'
    },
  },
)

export const compositePodGroupStrategy = /* @__PURE__ */ statusKind({ namespaced: true, gates: [preemption] })
