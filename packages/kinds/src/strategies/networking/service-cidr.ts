/** Ranges from which services get their addresses. */
import { type DeepReadonly, goStrings, parseCIDR } from '@krmkit/meta'
import type { ServiceCIDR } from '../../types/networking-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate, keepMembers } from '../shared/metadata.ts'
import { resetStatusMetadata } from '../shared/status-metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { semanticEqual } from '../shared/values.ts'
import { checkStrictRange } from './strict-address.ts'

const maxRanges = 2

function printSpec(ranges: readonly string[]): string {
  return `networking.ServiceCIDRSpec{CIDRs:${goStrings(ranges)}}`
}

function checkRanges(object: DeepReadonly<ServiceCIDR>, report: Report): void {
  checkMetadata(object, report, { namespaced: false })
  const ranges = object.spec?.cidrs ?? []
  const at = report.at('spec').child('cidrs')
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
  for (const [i, range] of ranges.entries()) at.index(i).invalidAll(range, checkStrictRange(range))
}

function checkFrozen(object: DeepReadonly<ServiceCIDR>, old: DeepReadonly<ServiceCIDR>, at: FieldPath): void {
  const ranges = object.spec?.cidrs ?? []
  if (!semanticEqual(ranges, old.spec?.cidrs)) at.invalidText(goStrings(ranges), 'field is immutable')
}

/** The main resource takes the status as it is sent, as on the stock server. */
export const serviceCidrStrategy = defineStrategy<ServiceCIDR>({
  validate(object, context) {
    return findings(context, (report) => checkRanges(object, report))
  },
  validateUpdate(object, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(object, old, report)
      checkFrozen(object, old, report.at('spec').child('cidrs'))
    })
  },
  subresources: {
    status: {
      prepareForUpdate(object, old) {
        keepMembers(object, old, 'spec')
        resetStatusMetadata(object, old)
      },
      validateUpdate(object, old, context) {
        return findings(context, (report) => checkMetadataUpdate(object, old, report))
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
