/** Validation of finalizers. */

import { goStrings, goText } from '../go-text.ts'
import type { DeepReadonly, FieldError, ObjectMeta } from '../interfaces.ts'
import { validateQualifiedNameFormat } from '../names/name-formats.ts'
import { collectErrors } from './error-list.direct.ts'
import { addErrors } from './error-list.ts'
import { field } from './field-error.ts'
import type { Path } from './path.ts'

/** Finalizers without a domain that every object may have. */
export const standardFinalizers: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion']

/** Appends an error for each finalizer without a domain that is not a standard one. */
export function addBareFinalizers(errors: FieldError[], { finalizers }: DeepReadonly<ObjectMeta>, path: Path): void {
  if (finalizers?.every(isStandardFinalizer) === false)
    addErrors(errors, validateStandardFinalizers(finalizers, path.child('finalizers')))
}

/** Requires qualified names; `orphan` and `foregroundDeletion` are mutually exclusive. */
export function validateFinalizers(finalizers: readonly string[] | null | undefined, path: Path): FieldError[] {
  if (finalizers === undefined || finalizers === null || finalizers.length === 0) return []
  return collectErrors((errors) => {
    for (const finalizer of finalizers) addErrors(errors, validateFinalizerName(finalizer, path))
    if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
      const detail = 'finalizer orphan and foregroundDeletion cannot be both set'
      errors.push(field.invalid(path, goText(goStrings(finalizers)), detail))
    }
  })
}

/** Requires a qualified name. */
export function validateFinalizerName(finalizer: string, path: Path): FieldError[] {
  return validateQualifiedNameFormat(finalizer).map((text) => field.invalid(path, finalizer, text))
}

/** Requires a finalizer without a domain to be a standard one. */
export function validateStandardFinalizer(finalizer: string, path: Path): FieldError[] {
  if (isStandardFinalizer(finalizer)) return []
  return [field.invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')]
}

function validateStandardFinalizers(finalizers: readonly string[], path: Path): FieldError[] {
  return collectErrors((errors) => {
    for (const [i, finalizer] of finalizers.entries()) addErrors(errors, validateStandardFinalizer(finalizer, path.index(i)))
  })
}

function isStandardFinalizer(finalizer: string): boolean {
  return finalizer.includes('/') || standardFinalizers.includes(finalizer)
}
