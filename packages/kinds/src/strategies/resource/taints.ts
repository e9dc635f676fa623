/** Taints of devices, and tolerations of them. */
import { validateLabelValue } from '@krmkit/meta/names'
import type { DeviceTaint, DeviceToleration } from '../../types/resource-v1beta1.generated.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { validateQualifiedName } from '../shared/names.ts'
import { isEmpty, type R } from '../shared/values.ts'

const effects = ['NoExecute', 'NoSchedule']
const operators = ['Equal', 'Exists']

export function validateTaint({ key = '', value = '', effect }: R<Partial<DeviceTaint>>, at: FieldPath): void {
  validateQualifiedName(key, at.child('key'))
  if (value !== '') at.child('value').invalidAll(value, validateLabelValue(value))
  if (isEmpty(effect)) at.child('effect').required()
  else validateEffect(effect, at.child('effect'))
}

function validateEffect(effect: string, at: FieldPath): void {
  if (!effects.includes(effect)) at.notSupported(effect, effects)
}

export function validateToleration({ key, operator, value = '', effect }: R<DeviceToleration>, at: FieldPath): void {
  if (!isEmpty(key)) validateQualifiedName(key, at.child('key'))
  if (operator === 'Exists') {
    if (value !== '') at.child('value').invalid(value, 'must be empty for operator `Exists`')
  } else if (operator === 'Equal') at.child('value').invalidAll(value, validateLabelValue(value))
  else if (isEmpty(operator)) at.child('operator').required()
  else at.child('operator').notSupported(operator, operators)
  if (!isEmpty(effect)) validateEffect(effect, at.child('effect'))
}
