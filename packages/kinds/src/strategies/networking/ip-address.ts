/** Addresses that services have taken. */
import { type DeepReadonly, goQuote, validateDns1123Subdomain, validatePathSegmentName } from '@krmkit/meta'
import type { IPAddress, ParentReference } from '../../types/networking-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { goStruct } from '../shared/go-form.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, type R, semanticEqual } from '../shared/values.ts'
import { checkStrictAddress } from './strict-address.ts'

function checkParent({ group, resource, namespace, name }: R<ParentReference>, at: FieldPath): void {
  if (!isEmpty(group)) at.child('group').invalidAll(group, validateDns1123Subdomain(group))
  if (isEmpty(resource)) at.child('resource').required()
  else at.child('resource').invalidAll(resource, validatePathSegmentName(resource))
  if (isEmpty(name)) at.child('name').required()
  else at.child('name').invalidAll(name, validatePathSegmentName(name))
  if (!isEmpty(namespace)) at.child('namespace').invalidAll(namespace, validatePathSegmentName(namespace))
}

function checkAddress(object: DeepReadonly<IPAddress>, report: Report): void {
  checkMetadata(object, report, { namespaced: false, name: checkStrictAddress })
  const at = report.at('spec').child('parentRef')
  const parent = object.spec?.parentRef
  if (isSet(parent)) checkParent(parent, at)
  else at.required()
}

function checkFrozen(object: DeepReadonly<IPAddress>, old: DeepReadonly<IPAddress>, at: FieldPath): void {
  const parent = object.spec?.parentRef
  if (semanticEqual(parent, old.spec?.parentRef)) return
  if (!isSet(parent)) {
    at.invalid(null, 'field is immutable')
    return
  }
  const { group = '', resource = '', namespace = '', name = '' } = parent
  const members = { Group: group, Resource: resource, Namespace: namespace, Name: name }
  const quoted = Object.fromEntries(Object.entries(members).map(([member, text]) => [member, goQuote(text)]))
  at.invalidText(goStruct('networking.ParentReference', quoted), 'field is immutable')
}

export const ipAddressStrategy = defineStrategy<IPAddress>({
  validate(object, context) {
    return findings(context, (report) => checkAddress(object, report))
  },
  validateUpdate(object, old, context) {
    return findings(context, (report) => {
      checkAddress(object, report)
      checkMetadataUpdate(object, old, report)
      checkFrozen(object, old, report.at('spec').child('parentRef'))
    })
  },
})
