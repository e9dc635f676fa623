/** Rules shared by StorageClass and VolumeAttributesClass: driver and parameters. */
import { utf8Length } from '@krmkit/meta/go-text'
import { validateQualifiedNameFormat } from '@krmkit/meta/names'
import type { FieldPath } from '../shared/field-path.ts'
import { sortedKeys } from '../shared/sorted-keys.direct.ts'
import { isEmpty, own } from '../shared/values.ts'

const maxParameters = 512
const maxParametersSize = 256 * 1024

/** The required name of a driver: a qualified name in any case. */
export function validateProvisioner(name: string | undefined, at: FieldPath): void {
  if (isEmpty(name)) at.required()
  else at.invalidAll(name, validateQualifiedNameFormat(name.toLowerCase()))
}

/** Parameters, bounded in number and size. */
export function validateParameters(parameters: Readonly<Record<string, string>> | undefined, at: FieldPath): void {
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
