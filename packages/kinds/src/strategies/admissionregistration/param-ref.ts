/** The parameters of the bindings of policies. */
import { nameRules } from '@krmkit/meta'
import type { ParamRef } from '../../types/admissionregistration-v1.generated.ts'
import { validateEnum } from '../shared/enums.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { validateSelector } from '../shared/labels.direct.ts'
import { isEmpty, isSet, type R } from '../shared/values.ts'

const missingActions = ['Deny', 'Allow']

export function validateParamRef({ name = '', selector, parameterNotFoundAction: action }: R<ParamRef>, at: FieldPath): void {
  const exclusive = 'name and selector are mutually exclusive'
  if (name !== '') {
    at.child('name').invalidAll(name, nameRules.pathSegment(name, false))
    if (isSet(selector)) at.child('name').forbidden(exclusive)
  }
  if (isSet(selector)) {
    validateSelector(selector, at.child('selector'))
    if (name !== '') at.child('selector').forbidden(exclusive)
  } else if (name === '') at.required('one of name or selector must be specified')
  if (isEmpty(action)) at.child('parameterNotFoundAction').required()
  else validateEnum(action, at.child('parameterNotFoundAction'), missingActions)
}
