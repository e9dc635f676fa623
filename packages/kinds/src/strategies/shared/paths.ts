/** File paths inside volumes. */
import type { FieldPath } from './field-path.ts'

/** No step of the path may lead upwards. */
export function hasBackstep(path: string): boolean {
  return path.split('/').includes('..')
}

/** No step upwards. */
export function validateNoBackstep(path: string, at: FieldPath): void {
  if (hasBackstep(path)) at.invalid(path, "must not contain '..'")
}

/** Relative, without a step upwards. */
export function validateDescendingPath(path: string, at: FieldPath): void {
  if (path.startsWith('/')) at.invalid(path, 'must be a relative path')
  validateNoBackstep(path, at)
}

/** As above, and not of the names that volumes keep for themselves. */
export function validateFreePath(path: string, at: FieldPath): void {
  validateDescendingPath(path, at)
  if (path.startsWith('..') && !path.startsWith('../')) at.invalid(path, "must not start with '..'")
}
