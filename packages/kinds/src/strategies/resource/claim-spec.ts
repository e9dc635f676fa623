/** The specification of resource claims, also in their templates. */
import type { Work } from '@krmkit/base/work'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConstraint,
  ResourceClaimSpec,
} from '../../types/resource-v1beta1.generated.ts'
import { semanticEqual } from '../shared/equality.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { validateDnsLabel } from '../shared/names.ts'
import { isSet, type R } from '../shared/values.ts'
import { devicesOf } from './claim-devices.ts'
import { validateConfiguration } from './configuration.ts'
import { isExactRequest, validateRequest } from './device-requests.ts'
import { validateList, validateSet } from './lists.ts'
import { validateFullyQualifiedName } from './names.ts'
import type { SelectorChecks } from './selectors.ts'

/** Largest number of requests, and of references to them in one list. */
export const maxRequests = 32
const maxConstraints = 32
/** Largest number of configurations of a claim, and of a class. */
export const maxConfigurations = 32

/** The names of the requests with those of their alternatives. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>

export function requestNames({ requests }: R<DeviceClaim>): RequestNames {
  return new Map(
    (requests ?? []).map(({ name = '', firstAvailable }) => [name, new Set(firstAvailable?.map((each) => each.name ?? ''))]),
  )
}

export function* validateClaimSpec(spec: R<ResourceClaimSpec> | undefined, at: FieldPath, checks: SelectorChecks): Work {
  const devices = devicesOf(spec)
  const here = at.child('devices')
  const names = requestNames(devices)
  yield* validateSet(devices.requests, here.child('requests'), {
    max: maxRequests,
    each: (request, place) => validateRequest(request, place, checks),
    key: ({ name = '' }) => name,
    member: 'name',
  })
  yield* validateList(devices.constraints, here.child('constraints'), {
    max: maxConstraints,
    each: (constraint, place) => validateConstraint(constraint, place, names),
  })
  yield* validateList(devices.config, here.child('config'), {
    max: maxConfigurations,
    each: (config, place) => validateConfig(config, place, names, checks),
  })
}

function* validateConfig(config: R<DeviceClaimConfiguration>, at: FieldPath, names: RequestNames, checks: SelectorChecks): Work {
  yield* validateRequestRefs(config.requests, at.child('requests'), names)
  validateConfiguration(config, at, checks)
}

/** A constraint with a member of 1.34. */
type Constraint = R<DeviceConstraint> & { readonly distinctAttribute?: string | null }

function* validateConstraint(constraint: Constraint, at: FieldPath, names: RequestNames): Work {
  const { requests, matchAttribute, distinctAttribute } = constraint
  yield* validateRequestRefs(requests, at.child('requests'), names)
  const here = at.child('matchAttribute')
  if (isSet(matchAttribute)) validateFullyQualifiedName(matchAttribute, here)
  else if (isSet(distinctAttribute)) validateFullyQualifiedName(distinctAttribute, at.child('distinctAttribute'))
  else if (gateEnabled('DRAConsumableCapacity', at.errors.context.features)) at.required(noAttribute)
  else here.required()
}

const noAttribute = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'

/** Unique references to requests or alternatives. */
export function validateRequestRefs(refs: readonly string[] | null | undefined, at: FieldPath, names: RequestNames): Work {
  return validateSet(refs, at, {
    max: maxRequests,
    each: (ref, here) => validateRequestRef(ref, here, names),
    key: (ref) => ref,
  })
}

const noRequest = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

export function validateRequestRef(ref: string, at: FieldPath, names: RequestNames): void {
  const parts = ref.split('/')
  if (parts.length > 2) {
    at.invalid(ref, noRequest)
    return
  }
  for (const part of parts) validateDnsLabel(part, at)
  const [request = '', alternative] = parts
  const known = names.get(request)
  if (known === undefined || (alternative !== undefined && !known.has(alternative))) at.invalid(ref, noRequest)
}

/** Whether two specifications are the same. */
export function isSameClaimSpec(a: R<ResourceClaimSpec> | undefined, b: R<ResourceClaimSpec> | undefined): Work<boolean> {
  return semanticEqual(comparable(devicesOf(a)), comparable(devicesOf(b)))
}

/** An absent class is an empty one; empty lists, which are equal to absent ones, may make a request an exact one. */
function comparable(devices: R<DeviceClaim>): object {
  const requests = (devices.requests ?? []).map((request) => {
    return { deviceClassName: '', ...request, exactly: isExactRequest(request) }
  })
  return { ...devices, requests }
}
