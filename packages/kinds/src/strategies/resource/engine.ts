/** Loads the engine of expressions for objects that have some. */
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { loadCel } from '@krmkit/schema'
import type { DeviceTaintRuleSpec } from '../../types/resource-v1alpha3.generated.ts'
import type { DeviceClassSpec, ResourceClaimSpec, ResourceClaimTemplateSpec } from '../../types/resource-v1beta1.generated.ts'
import { isEmpty, type R } from '../shared/values.ts'
import { devicesOf } from './claim-devices.ts'
import type { SelectorList } from './selectors.ts'

type AnySpec = R<Partial<DeviceClassSpec & DeviceTaintRuleSpec & ResourceClaimSpec & ResourceClaimTemplateSpec>>

/** @param object of any kind of this group */
export function engineReady(object: DeepReadonly<ApiObject>): Promise<void> | undefined {
  for (const selectors of selectorLists((object['spec'] ?? {}) as AnySpec)) if (!isEmpty(selectors)) return loadCel()
  return undefined
}

function selectorLists(spec: AnySpec): readonly SelectorList[] {
  const requests = [spec, spec.spec].flatMap((claim) => devicesOf(claim).requests ?? [])
  const ofRequests = requests.flatMap(({ selectors, firstAvailable }) => [
    selectors,
    ...(firstAvailable ?? []).map((alternative) => alternative.selectors),
  ])
  return [spec.selectors, spec.deviceSelector?.selectors, ...ofRequests]
}
