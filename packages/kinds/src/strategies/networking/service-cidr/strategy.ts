/** ServiceCIDR. */

import { parseCIDR } from '@krmkit/base/ip'
import type { Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goStrings } from '@krmkit/meta/go-text'
import type { ServiceCIDR } from '../../../types/networking-v1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { keepMembers, resetStatusMetadata, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { validateStrictRange } from '../../shared/strict-address.ts'

const maxRanges = 2

function printSpec(ranges: readonly string[]): string {
  return `networking.ServiceCIDRSpec{CIDRs:${goStrings(ranges)}}`
}

function validateRanges(ranges: readonly string[], at: FieldPath): void {
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

const immutable = 'field is immutable'

/** A range of the other family may be added to a single one. */
function validateRangeUpdate(ranges: readonly string[], old: readonly string[], at: FieldPath): void {
  const isAdded = old.length === 1 && ranges.length === maxRanges
  if (ranges.length !== old.length && !isAdded) {
    at.invalidText(goStrings(ranges), immutable)
    return
  }
  for (const [i, range] of old.entries()) if (range !== ranges[i]) at.index(i).invalid(ranges[i], immutable)
  if (isAdded) validateRanges(ranges, at)
}

/** Since 1.36 a write of the main resource leaves the status alone. */
function keepsStatus(features: Features): boolean {
  return gateEnabled('ServiceCIDRStatusFieldWiping', features)
}

/** A write of the main resource before 1.36 sets the status as well, as on kube-apiserver. */
export const serviceCidrStrategy = defineStrategy<ServiceCIDR>({
  prepareForCreate(object, { features }) {
    if (keepsStatus(features)) object.status = {}
  },
  *prepareForUpdate(object, old, { features }) {
    if (keepsStatus(features)) yield* keepMembers(object, old, 'status')
  },
  validate: creationRules(function* (errors, object) {
    yield* validateMetadata(object, errors, { namespaced: false })
    validateRanges(object.spec?.cidrs ?? [], errors.child('spec').child('cidrs'))
  }),
  validateUpdate: updateRules(function* (errors, object, old) {
    yield* validateMetadataUpdate(object, old, errors)
    validateRangeUpdate(object.spec?.cidrs ?? [], old.spec?.cidrs ?? [], errors.child('spec').child('cidrs'))
  }),
  subresources: {
    status: {
      *prepareForUpdate(object, old) {
        yield* keepMembers(object, old, 'spec')
        yield* resetStatusMetadata(object, old)
      },
      validateUpdate: updateRules((errors, object, old) => validateMetadataUpdate(object, old, errors)),
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
