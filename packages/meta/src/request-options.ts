/**
 * The rules of the options that requests carry.
 */

import { field } from './validation/field-error.ts'
import { goStrings, goText } from './go-text.ts'
import type { FieldError } from './interfaces.ts'
import { validateFieldManager } from './validation/managed-fields.ts'
import { Path } from './validation/path.ts'

/** Options of create, update and patch. Empty text counts as absent. */
export interface WriteOptions {
  readonly dryRun?: readonly string[]
  readonly fieldManager?: string
  readonly fieldValidation?: string
}

/** Options of a patch. */
export interface PatchOptions extends WriteOptions {
  /** Only for apply: take over fields of other managers. */
  readonly force?: boolean
}

/** Options of a deletion. */
export interface DeleteOptions {
  readonly dryRun?: readonly string[]
  readonly gracePeriodSeconds?: number
  readonly orphanDependents?: boolean
  readonly propagationPolicy?: string
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** What happens to dependents, and whether the deletion waits for them. */
export const propagationPolicies: readonly string[] = ['Foreground', 'Background', 'Orphan']

/** What happens to unknown and duplicate fields; empty means the default. */
export const fieldValidations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn']

/** Options of create and update. */
export function validateWriteOptions(options: WriteOptions): FieldError[] {
  return [
    ...validateFieldManager(options.fieldManager ?? '', Path.of('fieldManager')),
    ...validateDryRun(options.dryRun, Path.of('dryRun')),
    ...validateFieldValidation(options.fieldValidation ?? '', Path.of('fieldValidation')),
  ]
}

/** Options of a patch; `apply` says whether it is a server-side apply. */
export function validatePatchOptions(options: PatchOptions, { apply }: { readonly apply: boolean }): FieldError[] {
  const errors: FieldError[] = []
  if (!apply && options.force !== undefined) {
    errors.push(field.forbidden(Path.of('force'), 'may not be specified for non-apply patch'))
  }
  if (apply && !options.fieldManager) errors.push(field.required(Path.of('fieldManager'), 'is required for apply patch'))
  errors.push(...validateWriteOptions(options))
  return errors
}

/** Options of a deletion. */
export function validateDeleteOptions({ orphanDependents, propagationPolicy, dryRun }: DeleteOptions): FieldError[] {
  const errors: FieldError[] = []
  const path = Path.of('propagationPolicy')
  if (propagationPolicy !== undefined) {
    if (orphanDependents !== undefined) {
      errors.push(field.invalid(path, propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'))
    }
    if (!propagationPolicies.includes(propagationPolicy)) {
      errors.push(field.notSupported(path, propagationPolicy, [...propagationPolicies, 'nil']))
    }
  }
  errors.push(...validateDryRun(dryRun, Path.of('dryRun')))
  return errors
}

/** Every stage of a dry run is `All`. */
export function validateDryRun(dryRun: readonly string[] | undefined, path: Path): FieldError[] {
  if (dryRun === undefined || dryRun.every((stage) => stage === 'All')) return []
  return [field.notSupported(path, goText(goStrings(dryRun)), ['All'])]
}

/** One of `fieldValidations`. */
export function validateFieldValidation(fieldValidation: string, path: Path): FieldError[] {
  return fieldValidations.includes(fieldValidation) ? [] : [field.notSupported(path, fieldValidation, fieldValidations)]
}
