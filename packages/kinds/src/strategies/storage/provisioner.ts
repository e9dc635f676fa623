/** What storage classes and classes of volume attributes have in common: a driver and what it is told. */
import { utf8Length, validateQualifiedNameFormat } from '@krmkit/meta'
import type { FieldPath } from '../shared/field-path.ts'
import { isEmpty, own, sortedKeys } from '../shared/values.ts'

const maxParameters = 512
const maxParametersSize = 256 * 1024

/** The name of a driver; a required qualified name in any case. */
export function checkProvisioner(name: string | undefined, at: FieldPath): void {
  if (isEmpty(name)) at.required()
  else at.invalidAll(name, validateQualifiedNameFormat(name.toLowerCase()))
}

/** Texts for the driver, bounded in number and size. */
export function checkParameters(parameters: Readonly<Record<string, string>> | undefined, at: FieldPath): void {
  const keys = sortedKeys(parameters)
  if (keys.length > maxParameters) {
    at.tooLong('', maxParameters)
    return
  }
  let size = 0
  for (const key of keys) {
    if (key === '') at.invalid(key, 'field can not be empty.')
    size += utf8Length(key) + utf8Length(own(parameters, key) ?? '')
  }
  if (size > maxParametersSize) at.tooLong('', maxParametersSize)
}
