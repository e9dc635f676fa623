import { type DeepReadonly, type FieldError, field, type Path } from '@krmkit/meta'
import { validateDns1035Label } from '@krmkit/meta/names'
import { collectErrors } from '@krmkit/meta/validation'
import type { CustomResourceDefinitionNames } from '../../../types/apiextensions-v1.generated.ts'

type Names = DeepReadonly<CustomResourceDefinitionNames>

/** Errors of missing required names; accepted names may lack them. */
export function requireNames(names: Names, path: Path): FieldError[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const)
    .filter((name) => (names[name] ?? '') === '')
    .map((name) => field.required(path.child(name)))
}

/** Errors of the form of names. */
export function validateNames(names: Names, path: Path): FieldError[] {
  return collectErrors((errors) => {
    const label = (text: string | undefined, at: Path): void => {
      const problems = text === undefined || text === '' ? [] : validateDns1035Label(text)
      if (problems.length > 0) errors.push(field.invalid(at, text, problems.join(',')))
    }
    const mixedCase = (text: string | undefined, at: Path): void => {
      const problems = text === undefined || text === '' ? [] : validateDns1035Label(text.toLowerCase())
      if (problems.length > 0)
        errors.push(field.invalid(at, text, `may have mixed case, but should otherwise match: ${problems.join(',')}`))
    }
    label(names.plural, path.child('plural'))
    label(names.singular, path.child('singular'))
    mixedCase(names.kind, path.child('kind'))
    mixedCase(names.listKind, path.child('listKind'))
    const each = (texts: readonly string[] | undefined, at: Path): void => {
      for (const [index, text] of (texts ?? []).entries()) {
        const problems = validateDns1035Label(text)
        if (problems.length > 0) errors.push(field.invalid(at.index(index), text, problems.join(',')))
      }
    }
    each(names.shortNames, path.child('shortNames'))
    if (names.kind !== '' && names.kind === names.listKind) {
      errors.push(field.invalid(path.child('listKind'), names.listKind, 'kind and listKind may not be the same'))
    }
    each(names.categories, path.child('categories'))
  })
}
