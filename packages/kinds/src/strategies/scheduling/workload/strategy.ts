/** Workload: templates of groups of pods that are scheduled together. */

import type { Work } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import type { GroupTemplate, WorkloadSpec } from './templates.ts'
import { validateTemplates } from './validation.ts'

const templateGates = [
  ['TopologyAwareWorkloadScheduling', 'schedulingConstraints'],
  ['DRAWorkloadResourceClaims', 'resourceClaims'],
  ['PodGroupPreemptionPolicy', 'preemptionPolicy'],
] as const

type Templates = WorkloadSpec | undefined

/** Drops members behind gates that are off. Templates of pods are compared by place, composite ones by name, as on kube-apiserver. */
function dropDisabled(spec: Templates, old: DeepReadonly<Templates>, features: Features): void {
  if (spec === undefined || spec === null) return
  for (const [i, template] of (spec.podGroupTemplates ?? []).entries())
    dropMembers(template, old?.podGroupTemplates?.[i], features)
  const before = old?.compositePodGroupTemplates ?? []
  if (!gateEnabled('CompositePodGroup', features) && before.length === 0) delete spec.compositePodGroupTemplates
  for (const template of spec.compositePodGroupTemplates ?? []) {
    const stored = before.find(({ name }) => name === template.name)
    dropMembers(template, stored, features)
    dropDisabled(template, stored, features)
  }
}

function dropMembers(template: GroupTemplate, old: DeepReadonly<GroupTemplate> | undefined, features: Features): void {
  for (const [gate, member] of templateGates) if (!gateEnabled(gate, features) && !isUsed(old?.[member])) delete template[member]
}

function isUsed(value: unknown): boolean {
  return value !== undefined && value !== null && (!Array.isArray(value) || value.length > 0)
}

const specOf = (object: ApiObject | DeepReadonly<ApiObject>): Templates => object['spec'] as Templates

export const workloadStrategy = /* @__PURE__ */ defineStrategy<ApiObject>({
  allowUnconditionalUpdate: false,
  prepareForCreate: (object, { features }) => dropDisabled(specOf(object), undefined, features),
  prepareForUpdate: (object, old, { features }) => dropDisabled(specOf(object), specOf(old), features),
  validate: /* @__PURE__ */ creationRules(function* (errors, object): Work {
    yield* validateMetadata(object, errors, { namespaced: true })
    validateTemplates(specOf(object) ?? {}, errors.child('spec'))
  }),
  validateUpdate: /* @__PURE__ */ updateRules(function* (errors, object, old): Work {
    yield* validateMetadataUpdate(object, old, errors)
    validateTemplates(specOf(object) ?? {}, errors.child('spec'))
  }),
})
