import type { Features, FieldError } from '@krmkit/meta'

/**
 * The errors of a validation as the release reports them. Since 1.37 errors that are equal in field and message are reported once: rules that
 * a release applies twice to an update have one error.
 *
 * @example
 * import { reportedErrors } from '@krmkit/kinds/strategies'
 * import { createFeatures, field, Path } from '@krmkit/meta'
 * const error = field.required(Path.of('name'))
 * reportedErrors([error, error], createFeatures('1.37')).length // 1
 */
export function reportedErrors(errors: readonly FieldError[], { release }: Features): FieldError[] {
  if (errors.length < 2 || !release.atLeast('1.37')) return [...errors]
  const seen = new Set<string>()
  return errors.filter(({ field, message }) => {
    const text = `${field}: ${message}`
    if (seen.has(text)) return false
    seen.add(text)
    return true
  })
}
