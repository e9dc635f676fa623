/** IPAddress. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { validateDns1123Subdomain, validatePathSegmentName } from '@krmkit/meta/names'
import type { IPAddress, ParentReference } from '../../../types/networking-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.direct.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { goStruct } from '../../shared/go-form.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { validateStrictAddress } from '../../shared/strict-address.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'

function validateParent({ group, resource, namespace, name }: R<ParentReference>, at: FieldPath): void {
  if (!isEmpty(group)) at.child('group').invalidAll(group, validateDns1123Subdomain(group))
  if (isEmpty(resource)) at.child('resource').required()
  else at.child('resource').invalidAll(resource, validatePathSegmentName(resource))
  if (isEmpty(name)) at.child('name').required()
  else at.child('name').invalidAll(name, validatePathSegmentName(name))
  if (!isEmpty(namespace)) at.child('namespace').invalidAll(namespace, validatePathSegmentName(namespace))
}

function* validateAddress(object: DeepReadonly<IPAddress>, errors: ContextErrorList): Work {
  yield* validateMetadata(object, errors, { namespaced: false, name: validateStrictAddress })
  const at = errors.child('spec').child('parentRef')
  const parent = object.spec?.parentRef
  if (isSet(parent)) validateParent(parent, at)
  else at.required()
}

function validateImmutableFields(object: DeepReadonly<IPAddress>, old: DeepReadonly<IPAddress>, at: FieldPath): void {
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
  validate: creationRules((errors, object) => validateAddress(object, errors)),
  validateUpdate: updateRules(function* (errors, object, old) {
    yield* validateAddress(object, errors)
    yield* validateMetadataUpdate(object, old, errors)
    validateImmutableFields(object, old, errors.child('spec').child('parentRef'))
  }),
})
