/** Access to devices that are in use: only in namespaces with a label. */
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import type { DeviceRequestAllocationResult, ResourceClaimSpec } from '../../types/resource-v1beta1.generated.ts'
import type { ContextErrorList, FieldPath } from '../shared/field-path.ts'
import { isSet, own, type R } from '../shared/values.ts'
import { devicesOf } from './claim-devices.ts'

type Results = readonly R<DeviceRequestAllocationResult>[] | null | undefined

/** Refuses a new claim or template that asks for such access. */
export function validateAdminRequests(
  object: DeepReadonly<ApiObject>,
  spec: R<ResourceClaimSpec> | undefined,
  errors: ContextErrorList,
): void {
  const asking = devicesOf(spec).requests?.findIndex(({ adminAccess }) => adminAccess === true) ?? -1
  // Templates have the same path as claims.
  const at = errors.child('spec').child('devices').child('requests')
  if (asking >= 0) validateNamespace(object, at.index(asking).child('adminAccess'))
}

/** Refuses an allocation that grants such access, unless one was granted before. */
export function validateAdminResults(object: DeepReadonly<ApiObject>, results: Results, old: Results, at: FieldPath): void {
  const isGranted = ({ adminAccess }: R<DeviceRequestAllocationResult>) => adminAccess === true
  if (old?.some(isGranted) === true) return
  const granted = results?.findIndex(isGranted) ?? -1
  if (granted >= 0) validateNamespace(object, at.index(granted).child('adminAccess'))
}

const namespaces = { group: '', resource: 'namespaces' }

function validateNamespace({ metadata: { namespace = '' } }: DeepReadonly<ApiObject>, at: FieldPath): void {
  const { objects, profile } = at.errors.context
  if (objects === undefined) return
  const found = objects.get(namespaces, '', namespace)
  const label = `resource.${profile.apiDomain}/admin-access`
  if (!isSet(found)) {
    at.internal(`could not retrieve namespace to verify admin access: namespaces ${goQuote(namespace)} not found`)
  } else if (own(found.metadata.labels, label) !== 'true') {
    at.forbidden(`admin access to devices requires the \`${label}: true\` label on the containing namespace`)
  }
}
