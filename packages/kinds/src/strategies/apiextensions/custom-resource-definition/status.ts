import { type DeepReadonly, type FieldError, field, Path } from '@krmkit/meta'
import { goStrings, goText } from '@krmkit/meta/go-text'
import { collectErrors } from '@krmkit/meta/validation'
import type { CustomResourceDefinition } from '../../../types/apiextensions-v1.generated.ts'
import { validateNames } from './names.ts'

type Definition = DeepReadonly<CustomResourceDefinition>

const status = Path.of('status')

export function validateStatus({ status: found }: Definition): FieldError[] {
  return found?.acceptedNames === undefined ? [] : validateNames(found.acceptedNames, status.child('acceptedNames'))
}

function missing(name: string): string {
  return `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
}

/** The storage version must be stored, and every stored version must exist. */
export function validateStoredVersions({ spec, status: found }: Definition): FieldError[] {
  const stored = found?.storedVersions ?? []
  const path = status.child('storedVersions')
  if (stored.length === 0) return [field.invalid(path, goText('[]string(nil)'), 'must have at least one stored version')]
  return collectErrors((errors) => {
    const versions = spec.versions ?? []
    // A duplicate name counts as unknown, as on kube-apiserver.
    const known = new Set(stored)
    for (const { name, storage } of versions) {
      if (!known.delete(name) && storage)
        errors.push(field.invalid(path, goText(goStrings(stored)), `must have the storage version ${name}`))
    }
    const names = new Set(versions.map(({ name }) => name))
    for (const [index, name] of stored.entries()) {
      if (!names.has(name)) errors.push(field.invalid(path.index(index), name, missing(name)))
    }
  })
}
