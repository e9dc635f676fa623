/** ServiceCIDR. */
import type { DeepReadonly } from '@krmkit/meta'
import { goStrings } from '@krmkit/meta/go-text'
import { parseCIDR } from '@krmkit/meta/ip'
import type { ServiceCIDR } from '../../../types/networking-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { keepMembers, resetStatusMetadata, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import type { Steps } from '../../shared/steps.ts'
import { defineStrategy, updateSteps, validateStepsWith } from '../../shared/strategy.ts'
import { validateStrictRange } from '../../shared/strict-address.ts'
import { semanticEqual } from '../../shared/values.ts'

const maxRanges = 2

function printSpec(ranges: readonly string[]): string {
  return `networking.ServiceCIDRSpec{CIDRs:${goStrings(ranges)}}`
}

function* validateRanges(object: DeepReadonly<ServiceCIDR>, errors: ContextErrorList): Steps {
  yield* validateMetadata(object, errors, { namespaced: false })
  const ranges = object.spec?.cidrs ?? []
  const at = errors.child('spec').child('cidrs')
  if (ranges.length === 0) {
    at.required('at least one CIDR required')
    return
  }
  if (ranges.length > maxRanges) {
    at.invalidText(printSpec(ranges), 'may only hold up to 2 values')
    return
  }
  const [first, second] = ranges.map((range) => parseCIDR(range)?.address.family)
  if (ranges.length === maxRanges && (first === undefined || second === undefined || first === second)) {
    const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'
    at.invalidText(printSpec(ranges), detail)
    return
  }
  for (const [i, range] of ranges.entries()) at.index(i).invalidAll(range, validateStrictRange(range))
}

function validateImmutableFields(object: DeepReadonly<ServiceCIDR>, old: DeepReadonly<ServiceCIDR>, at: FieldPath): void {
  const ranges = object.spec?.cidrs ?? []
  if (!semanticEqual(ranges, old.spec?.cidrs)) at.invalidText(goStrings(ranges), 'field is immutable')
}

/** A write of the main resource sets the status as well, as on the stock server. */
export const serviceCidrStrategy = defineStrategy<ServiceCIDR>({
  validate(object, context) {
    return validateStepsWith(context, (errors) => validateRanges(object, errors))
  },
  validateUpdate: updateSteps(function* (errors, object, old) {
    yield* validateMetadataUpdate(object, old, errors)
    validateImmutableFields(object, old, errors.child('spec').child('cidrs'))
  }),
  subresources: {
    status: {
      *prepareForUpdate(object, old) {
        yield* keepMembers(object, old, 'spec')
        yield* resetStatusMetadata(object, old)
      },
      validateUpdate(object, old, context) {
        return validateStepsWith(context, (errors) => validateMetadataUpdate(object, old, errors))
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
