/** Ranges from which services get their addresses. */
import { type DeepReadonly, goStrings, isValidCIDR, parseCIDR, validateConditions } from '@krmkit/meta'
import type { ServiceCIDR } from '../../types/networking-v1.generated.ts'
import { checkMetadata, checkMetadataUpdate, keepMembers } from '../shared/metadata.ts'
import type { Place, Report } from '../shared/place.ts'
import { definePolicy, findings } from '../shared/policy.ts'

const maxRanges = 2

function checkRanges(object: DeepReadonly<ServiceCIDR>, report: Report): void {
  checkMetadata(object, report, { namespaced: false })
  const ranges = object.spec?.cidrs ?? []
  const at = report.at('spec').child('cidrs')
  if (ranges.length === 0) {
    at.required('at least one CIDR required')
    return
  }
  if (ranges.length > maxRanges) {
    at.invalidText(goStrings(ranges), 'may only hold up to 2 values')
    return
  }
  for (const [i, range] of ranges.entries()) at.index(i).invalidAll(range, isValidCIDR(range))
  const families = ranges.map((range) => parseCIDR(range)?.address.family)
  if (ranges.length === maxRanges && families[0] === families[1]) {
    at.invalidText(goStrings(ranges), 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64')
  }
}

/** A range of the other family may be added; what is there stays. */
function checkFrozen(object: DeepReadonly<ServiceCIDR>, old: DeepReadonly<ServiceCIDR>, at: Place): void {
  const ranges = object.spec?.cidrs ?? []
  const before = old.spec?.cidrs ?? []
  const kept = ranges.length >= before.length && before.every((range, i) => ranges[i] === range)
  if (!kept) at.invalidText(goStrings(ranges), 'field is immutable')
}

export const serviceCidrPolicy = definePolicy<ServiceCIDR>({
  prepareForCreate(object) {
    object.status = {}
  },
  prepareForUpdate(object, old) {
    keepMembers(object, old, 'status')
  },
  validate(object, context) {
    return findings(context, (report) => checkRanges(object, report))
  },
  validateUpdate(object, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(object, old, report)
      checkRanges(object, report)
      checkFrozen(object, old, report.at('spec').child('cidrs'))
    })
  },
  subresources: {
    status: {
      prepareForUpdate(object, old) {
        keepMembers(object, old, 'spec')
      },
      validateUpdate(object, old, context) {
        return findings(context, (report) => {
          checkMetadataUpdate(object, old, report)
          const at = report.at('status').child('conditions')
          at.add(validateConditions(object.status?.conditions ?? [], at.path()))
        })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
