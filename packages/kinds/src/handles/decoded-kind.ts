import { DecodeError } from '@krmkit/schema'
import { KindsError } from '../errors.ts'

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

interface ObjectKind {
  readonly apiVersion: string
  readonly kind: string
}

/** @throws KindsError `InvalidObject` for an object of another kind */
export function requireKind(object: Partial<ObjectKind>, { apiVersion, kind }: ObjectKind): void {
  if (object.kind === kind && object.apiVersion === apiVersion) return
  const found = `${object.apiVersion || 'no version'} ${object.kind || 'no kind'}`
  throw new KindsError({ code: 'InvalidObject', message: `expected ${apiVersion} ${kind}, found ${found}` })
}
