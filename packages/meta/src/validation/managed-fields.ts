/** Validation of `metadata.managedFields` entries, except the field sets. */

import { isPrintable, utf8Length } from '../go-text.ts'
import type { DeepReadonly, FieldError, ManagedFieldsEntry } from '../interfaces.ts'
import { collectErrors } from './error-list.direct.ts'
import { field } from './field-error.ts'
import type { Path } from './path.ts'
import { restatedError } from './printed-error.ts'

/** Maximum length of a field manager name, in bytes. */
export const maxFieldManagerLength = 128
/** Maximum length of a subresource name in an entry, in bytes. */
export const maxSubresourceLength = 256

const printableAscii = /^[ -~]*$/

/**
 * Validates operation, type, manager and subresource of every entry.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { validateManagedFields } from '@krmkit/meta/validation'
 * const entry = { manager: 'ci', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }
 * validateManagedFields([entry], Path.of('metadata').child('managedFields')) // []
 */
export function validateManagedFields(entries: DeepReadonly<ManagedFieldsEntry[]> | null | undefined, path: Path): FieldError[] {
  if (entries === undefined || entries === null || entries.every(isValidEntry)) return []
  return collectErrors((errors) => {
    for (const [i, entry] of entries.entries()) validateEntry(entry, path.index(i), errors)
  })
}

/** Fast check that allocates no error list, because most entries are valid. */
function isValidEntry({ operation, fieldsType, manager = '', subresource = '' }: DeepReadonly<ManagedFieldsEntry>): boolean {
  return (
    (operation === 'Apply' || operation === 'Update') &&
    fieldsType === 'FieldsV1' &&
    subresource === '' &&
    isPlainManager(manager)
  )
}

function isPlainManager(manager: string): boolean {
  return manager.length <= maxFieldManagerLength && printableAscii.test(manager)
}

function validateEntry(entry: DeepReadonly<ManagedFieldsEntry>, path: Path, errors: FieldError[]): void {
  const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry
  if (operation !== 'Apply' && operation !== 'Update') {
    const at = path.child('operation')
    const later =
      operation === '' ? field.required(at, 'must not be empty') : field.notSupported(at, operation, ['Apply', 'Update'])
    errors.push(restatedError(field.invalid(at, operation, 'must be `Apply` or `Update`'), { since: '1.37', errors: [later] }))
  }
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
    errors.push(field.invalid(path.child('fieldsType'), fieldsType, 'must be `FieldsV1`'))
  }
  if (manager !== '') for (const error of validateFieldManager(manager, path.child('manager'))) errors.push(error)
  if (utf8Length(subresource) > maxSubresourceLength) {
    errors.push(field.tooLong(path.child('subresource'), subresource, maxSubresourceLength))
  }
}

/**
 * Validates a field manager name: at most 128 printable bytes.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { validateFieldManager } from '@krmkit/meta/validation'
 * validateFieldManager('ci', Path.of('fieldManager')) // []
 */
export function validateFieldManager(manager: string, path: Path | undefined): FieldError[] {
  if (isPlainManager(manager)) return []
  return collectErrors((errors) => {
    if (utf8Length(manager) > maxFieldManagerLength) errors.push(field.tooLong(path, manager, maxFieldManagerLength))
    let position = 0
    for (const char of manager) {
      if (!isPrintable(char)) {
        const code = (char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
        errors.push(field.invalid(path, manager, `invalid character U+${code} (at position ${position})`))
      }
      position += utf8Length(char)
    }
  })
}
