/** Taints of devices, and tolerations of them. */
import { validateLabelValue } from '@krmkit/meta/names'
import type { DeviceTaint, DeviceToleration } from '../../types/resource-v1beta1.generated.ts'
import { validateEnum, validateRequiredEnum } from '../shared/enums.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { validateQualifiedName } from '../shared/names.ts'
import { isEmpty, type R } from '../shared/values.ts'

const effects = ['NoExecute', 'NoSchedule']
/** Effects of 1.35. */
const laterEffects = [...effects, 'None']
const operators = ['Equal', 'Exists']

export function validateTaint({ key = '', value = '', effect }: R<Partial<DeviceTaint>>, at: FieldPath): void {
  validateQualifiedName(key, at.child('key'))
  if (value !== '') at.child('value').invalidAll(value, validateLabelValue(value))
  validateRequiredEnum(effect, at.child('effect'), effectsOf(at))
}

export function validateToleration({ key, operator, value = '', effect }: R<DeviceToleration>, at: FieldPath): void {
  if (!isEmpty(key)) validateQualifiedName(key, at.child('key'))
  if (operator === 'Exists') {
    if (value !== '') at.child('value').invalid(value, 'must be empty for operator `Exists`')
  } else if (operator === 'Equal') at.child('value').invalidAll(value, validateLabelValue(value))
  else validateRequiredEnum(operator, at.child('operator'), operators)
  if (!isEmpty(effect)) validateEnum(effect, at.child('effect'), effectsOf(at))
}

function effectsOf({ errors }: FieldPath): readonly string[] {
  return errors.context.features.release.atLeast('1.35') ? laterEffects : effects
}
