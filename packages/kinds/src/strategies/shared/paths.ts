/** File paths in volumes. */
import type { FieldPath } from './field-path.ts'

/** Whether the path contains `..`. */
export function hasBackstep(path: string): boolean {
  return path.split('/').includes('..')
}

/** A path without `..`. */
export function validateNoBackstep(path: string, at: FieldPath): void {
  if (hasBackstep(path)) at.invalid(path, "must not contain '..'")
}

/** A relative path without `..`. */
export function validateDescendingPath(path: string, at: FieldPath): void {
  if (path.startsWith('/')) at.invalid(path, 'must be a relative path')
  validateNoBackstep(path, at)
}

/** A relative path without `..` whose first element does not start with `..`, which volumes reserve. */
export function validateFreePath(path: string, at: FieldPath): void {
  validateDescendingPath(path, at)
  if (path.startsWith('..') && !path.startsWith('../')) at.invalid(path, "must not start with '..'")
}
