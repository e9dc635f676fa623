import type { FieldError } from '@krmkit/meta'
import { DecodeError, type DecodeOptions, decode, type StructType } from '@krmkit/schema'
import { KindsError } from '../kinds-error.ts'

/** Errors of decoding an object of a kind. */

/** Maps errors of decoding to KindsError. */
export function withDecodeErrors<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) throw new KindsError({ code: 'InvalidObject', message: error.message, cause: error })
    throw error
  }
}

export interface ObjectKind {
  readonly apiVersion: string
  readonly kind: string
}

/** @throws KindsError `InvalidObject` for an object of another kind */
export function requireKind(object: Partial<ObjectKind>, { apiVersion, kind }: ObjectKind): void {
  if (object.kind === kind && object.apiVersion === apiVersion) return
  const found = `${object.apiVersion || 'no version'} ${object.kind || 'no kind'}`
  throw new KindsError({ code: 'InvalidObject', message: `expected ${apiVersion} ${kind}, found ${found}` })
}

/** @throws KindsError `InvalidObject` for a value that is not an object */
export function requireObject(value: unknown, { kind }: ObjectKind): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  const found = Array.isArray(value) ? 'a list' : value === null ? 'null' : `a value of type ${typeof value}`
  throw new KindsError({ code: 'InvalidObject', message: `expected an object of kind ${kind}, found ${found}` })
}

/** An object as a server decodes it, or the errors for which the server refuses it before validation. */
export type DecodedOrErrors<T> =
  | { readonly object: T; readonly errors?: undefined }
  | { readonly errors: FieldError[]; readonly object?: undefined }

/** Decodes an object strictly. A kind and an apiVersion that are absent count as those of the kind. */
export function decodeObject<T>(
  type: StructType,
  value: object,
  { apiVersion, kind, ...options }: ObjectKind & Pick<DecodeOptions, 'keepEmpties'>,
): DecodedOrErrors<T> {
  try {
    const { object, problems } = decode<T & Partial<ObjectKind>>(type, value, options)
    const stated = { kind: object.kind || kind, apiVersion: object.apiVersion || apiVersion }
    const errors = [...otherType(stated, { apiVersion, kind }), ...problems.map(problemError)]
    return errors.length > 0 ? { errors } : { object }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const reason = error.code === 'Value' ? 'FieldValueInvalid' : 'FieldValueTypeInvalid'
    return { errors: [{ field: error.path || '<nil>', reason, message: `Invalid value: ${error.message}` }] }
  }
}

function otherType(stated: ObjectKind, expected: ObjectKind): FieldError[] {
  const names = (['kind', 'apiVersion'] as const).filter((name) => stated[name] !== expected[name])
  return names.map((name) => ({
    field: name,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(stated[name])}: must be ${expected[name]}`,
  }))
}

/** An unknown member as an error of its field. */
function problemError(problem: string): FieldError {
  const path = /^unknown field "(.*)"$/s.exec(problem)?.[1] ?? '<nil>'
  return { field: path.replaceAll('\\"', '"'), reason: 'FieldValueForbidden', message: 'Forbidden: unknown field' }
}
