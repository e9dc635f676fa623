/** Addresses that services have taken. */
import { type DeepReadonly, isDns1123Subdomain, isPathSegmentName, isValidIP } from '@krmkit/meta'
import type { IPAddress, ParentReference } from '../../types/networking-v1.generated.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import type { Place, Report } from '../shared/place.ts'
import { definePolicy, findings } from '../shared/policy.ts'
import { isEmpty, isSet, type R, semanticEqual } from '../shared/values.ts'

function checkAddress(object: DeepReadonly<IPAddress>, report: Report): void {
  checkMetadata(object, report, { namespaced: false, name: (name) => isValidIP(name) })
  const at = report.at('spec').child('parentRef')
  const parent = object.spec?.parentRef
  if (isSet(parent)) checkParent(parent, at)
  else at.required()
}

function checkParent({ group, resource, namespace, name }: R<ParentReference>, at: Place): void {
  if (!isEmpty(group)) at.child('group').invalidAll(group, isDns1123Subdomain(group))
  if (isEmpty(resource)) at.child('resource').required()
  else at.child('resource').invalidAll(resource, isPathSegmentName(resource))
  if (isEmpty(name)) at.child('name').required()
  else at.child('name').invalidAll(name, isPathSegmentName(name))
  if (!isEmpty(namespace)) at.child('namespace').invalidAll(namespace, isPathSegmentName(namespace))
}

export const ipAddressPolicy = definePolicy<IPAddress>({
  validate(object, context) {
    return findings(context, (report) => checkAddress(object, report))
  },
  validateUpdate(object, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(object, old, report)
      checkAddress(object, report)
      if (!semanticEqual(object.spec?.parentRef, old.spec?.parentRef)) {
        report.at('spec').child('parentRef').invalid(object.spec?.parentRef, 'field is immutable')
      }
    })
  },
})
