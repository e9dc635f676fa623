import { type ApiObject, type DeepReadonly, type FieldError, formatApiVersion, type Typed } from '@krmkit/meta'
import { decode, encodeJson, normalize, parseJson, type StructType, type TypeSource } from '@krmkit/schema'
import type { Strategy, StrategyContext } from '../interfaces.ts'
import { KindsError } from '../kinds-error.ts'
import { requireKind, requireObject, withDecodeErrors } from './decoded-kind.ts'
import { kindRules } from './kind-rules.ts'

/**
 * A kind as a value: what a program needs to create, validate, encode and decode its objects without a server.
 *
 * A handle also names a resource for the client interface. No method changes its argument. `@krmkit/kinds/protobuf` has the binary form
 * of objects, and `createZodSchema<ConfigMap>(ConfigMap.type())` of `@krmkit/schema/zod` a zod schema of their shape: so a bundle contains
 * these libraries only where they are used.
 *
 * @example
 * import { ConfigMap } from '@krmkit/kinds/core/v1'
 * const map = ConfigMap.create({ metadata: { name: 'a' }, data: { k: 'v' } })
 * ConfigMap.validate(map) // []
 */
export interface KindHandle<T extends ApiObject> extends Typed<T> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly apiVersion: T['apiVersion']
  /** Plural, as in URLs; empty for kinds that are only the body of a sub-resource. */
  readonly resource: string
  readonly namespaced: boolean
  /** Parsed from the facts on first use. */
  type(): StructType
  /** Adds apiVersion and kind. */
  create(members: Omit<T, 'apiVersion' | 'kind'>): T
  /**
   * Decodes JSON, or a parsed JSON value. The result is canonical: members in the order of the type, unset ones as the wire prints
   * them.
   *
   * @throws KindsError `InvalidObject` for malformed input, a member of the wrong type, another kind and, unless `strict` is
   * false, unknown or duplicate members.
   */
  decode(input: Uint8Array | string | object, options?: { readonly strict?: boolean }): T
  /** Applies the defaults that the server applies on decoding. @throws KindsError `InvalidObject` for an object that does not decode */
  default(object: DeepReadonly<T>): T
  /**
   * Loads the expression engine if the rules of this object need it. Await it before `validate` of admission policies, webhook
   * configurations and custom resource definitions. With `old`, it also loads what prints the difference of the two objects into messages
   * that show one; `validateUpdate` omits it otherwise.
   */
  ready(object: DeepReadonly<T>, old?: DeepReadonly<T>): Promise<void>
  /**
   * Returns the errors that a server reports for a new object, after strict decoding and defaulting; empty for a valid one. A missing
   * namespace counts as `default`, a missing name as one made of `generateName`. An object that does not decode, for which a server
   * answers 400, has the errors of decoding only: a member of the wrong type (`FieldValueTypeInvalid`), an invalid quantity, time or
   * base64 text (`FieldValueInvalid`), unknown members (`FieldValueForbidden`).
   *
   * @param context the context of the strategy. Default: system clock, newest release, stock names.
   */
  validate(object: DeepReadonly<T>, context?: Partial<StrategyContext>): FieldError[]
  /** Returns the errors that a server reports when `object` replaces the stored `old`. */
  validateUpdate(object: DeepReadonly<T>, old: DeepReadonly<T>, context?: Partial<StrategyContext>): FieldError[]
  /** Canonical JSON. */
  encode(object: DeepReadonly<T>): Uint8Array
}

export interface KindHandleParts {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly resource: string
  readonly namespaced: boolean
  /** `core/v1.ConfigMap` */
  readonly typeName: string
  readonly types: () => TypeSource
  /** Absent: only the rules of metadata apply. */
  readonly strategy?: Strategy
  /** Strategies work on the storage version; absent if this is the storage version. */
  readonly toStorage?: (object: DeepReadonly<ApiObject>) => ApiObject
}

/** Called by the generated modules; use the handles they export. */
export function kindHandle<T extends ApiObject>(parts: KindHandleParts): KindHandle<T> {
  const { group, version, kind, resource, namespaced } = parts
  const apiVersion = formatApiVersion(parts)
  let struct: StructType | undefined
  const type = (): StructType => {
    struct ??= parts.types().struct(parts.typeName)
    return struct
  }
  const own = { apiVersion, kind }
  return {
    group,
    version,
    kind,
    apiVersion,
    resource,
    namespaced,
    type,
    create(members) {
      requireObject(members, own)
      return { apiVersion, kind, ...members } as unknown as T
    },
    decode: (input, { strict = true } = {}) => {
      const { object, problems } = withDecodeErrors(() => parseInput<T>(input, type()))
      requireKind(object, own)
      if (strict && problems.length > 0) throw new KindsError({ code: 'InvalidObject', message: problems.join(', ') })
      return object
    },
    ...kindRules<T>(parts, own, type),
    encode(object) {
      requireObject(object, own)
      return encodeJson(normalize(type(), object))
    },
  }
}

function parseInput<T>(input: Uint8Array | string | object, type: StructType): { object: T; problems: readonly string[] } {
  if (typeof input !== 'string' && !(input instanceof Uint8Array)) return decode<T>(type, input)
  const { value, duplicates } = parseJson(input, { literals: true })
  return decode<T>(type, value, { duplicates })
}
