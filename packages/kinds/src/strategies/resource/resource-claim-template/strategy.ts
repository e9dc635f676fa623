/** ResourceClaimTemplate. */
import type { ResourceClaimTemplate } from '../../../types/resource-v1beta1.generated.ts'
import { dropGatedFields } from '../../shared/gated-fields.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { claimEmpties, claimSpecGates, defaultClaimSpec } from '../claim-parts.ts'
import { deviceStrategy } from '../device-strategy.ts'

const table = /* @__PURE__ */ claimSpecGates('spec.spec')

/** Lists that templates may not have, not even empty. */
const forbiddenLists = ['ownerReferences', 'finalizers', 'managedFields']

const lazyRules = /* @__PURE__ */ lazyModule('the rules of resource claim templates', () => import('./validation.ts'))

export const resourceClaimTemplateStrategy = /* @__PURE__ */ deviceStrategy<ResourceClaimTemplate>(lazyRules, {
  distinctEmpties: [...claimEmpties('spec', 'spec'), ...forbiddenLists.map((member) => ['spec', 'metadata', member])],
  defaults: (template, version) => defaultClaimSpec(template.spec?.spec, version),
  prepareForCreate: (template, { features }) => dropGatedFields(template, undefined, { table, features }),
  prepareForUpdate: (template, old, { features }) => dropGatedFields(template, old, { table, features }),
})
