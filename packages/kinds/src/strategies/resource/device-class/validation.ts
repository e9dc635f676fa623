/** Rules of device classes. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { DeviceClass, DeviceClassSpec } from '../../../types/resource-v1beta1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, updateRules } from '../../shared/strategy.ts'
import { isSet, type R } from '../../shared/values.ts'
import { maxConfigurations } from '../claim-spec.ts'
import { validateConfiguration } from '../configuration.ts'
import { isExtendedResourceName } from '../extended-resources.ts'
import { validateList } from '../lists.ts'
import { SelectorChecks, validateSelectors } from '../selectors.ts'

type Class = DeepReadonly<DeviceClass>
type Spec = R<DeviceClassSpec>

const noSpec: Spec = {}

function* validateSpec(spec: Spec, at: FieldPath, old: Spec | undefined): Work {
  const sameSelectors = old !== undefined && (yield* semanticEqual(spec.selectors, old.selectors))
  const checks = new SelectorChecks(at.errors.context, sameSelectors)
  yield* validateSelectors(spec.selectors, at.child('selectors'), checks)
  const stored = old !== undefined && (yield* semanticEqual(spec.config, old.config))
  yield* validateList(spec.config, at.child('config'), {
    max: maxConfigurations,
    each: (config, here) => validateConfiguration(config, here, { stored }),
  })
  const { extendedResourceName } = spec as { readonly extendedResourceName?: string | null }
  if (isSet(extendedResourceName) && !isExtendedResourceName(extendedResourceName))
    at.child('extendedResourceName').invalid(extendedResourceName, 'must be a valid extended resource name')
}

export const validate = /* @__PURE__ */ creationRules(function* (errors, object: Class) {
  yield* validateMetadata(object, errors, { namespaced: false })
  yield* validateSpec(object.spec ?? noSpec, errors.child('spec'), undefined)
})

/** kube-apiserver validates an update as a creation first. */
export const validateUpdate = /* @__PURE__ */ updateRules(function* (errors, object: Class, old) {
  const spec = object.spec ?? noSpec
  const at = errors.child('spec')
  // kube-apiserver before 1.35 validates the class twice on update.
  if (!errors.context.features.release.atLeast('1.35')) {
    yield* validateMetadata(object, errors, { namespaced: false })
    yield* validateSpec(spec, at, undefined)
  }
  yield* validateMetadataUpdate(object, old, errors)
  yield* validateSpec(spec, at, old.spec ?? noSpec)
})
