import {
  type ApiObject,
  createFeatures,
  type DeepReadonly,
  type FieldError,
  field,
  formatApiVersion,
  nameRules,
  stockProfile,
  systemClock,
  systemRandom,
  type Typed,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@krmkit/meta'
import {
  applyDefaults,
  createZodSchema,
  DecodeError,
  decode,
  decodeProtobuf,
  encodeJson,
  encodeProtobuf,
  hasProtobufMagic,
  normalize,
  parseJson,
  readEnvelope,
  type StructType,
  type TypeSource,
  type ZodSchemaOptions,
} from '@krmkit/schema'
import { KindsError } from '../errors.ts'
import type { Strategy, StrategyContext } from '../interfaces.ts'
import { missingMembers } from '../strategies/required-members.ts'
import { copy } from '../strategies/shared/values.ts'

/** `z.ZodType<T>` */
export type ZodSchema<T> = ReturnType<typeof createZodSchema<T>>

/**
 * A kind as a value: what a program needs to write, check and read its objects without a server.
 *
 * A handle is a resource of the client interface too. Nothing here changes its argument.
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
  /** Read from the facts on first use. */
  type(): StructType
  /** A zod schema of the shape of objects; the rules of the kind are those of `validate`. One schema is kept for each set of options. */
  schema(options?: ZodSchemaOptions): ZodSchema<T>
  /** An object with its type written on it. */
  create(members: Omit<T, 'apiVersion' | 'kind'>): T
  /**
   * Reads JSON, the protobuf form with its envelope, or a value that was JSON. The result is canonical: members in the order of
   * the type, unset ones as the wire prints them.
   *
   * @throws KindsError `InvalidObject` for text that is no JSON, a wrong type of a member or another kind, and, when `strict`
   * is not false, unknown and repeated members.
   */
  decode(input: Uint8Array | string | object, options?: { readonly strict?: boolean }): T
  /** The object with everything filled in that the server would fill in on reading it. */
  default(object: DeepReadonly<T>): T
  /**
   * Loads what the rules of a few kinds need, when this object needs it: those with expressions in them. Wait for it before
   * `validate` of admission policies, webhook configurations and definitions of custom resources; for all others it has nothing to do.
   */
  ready(object: DeepReadonly<T>, old?: DeepReadonly<T>): Promise<void>
  /**
   * What the server would refuse in a new object, after defaulting; empty for a valid one. A missing namespace counts as
   * `default`, a missing name as one made of `generateName`.
   *
   * @param context what the policy may know. Default: the clock of the machine, the newest release, stock names.
   */
  validate(object: DeepReadonly<T>, context?: Partial<StrategyContext>): FieldError[]
  /** What the server would refuse when `object` replaces `old`, which it has stored. */
  validateUpdate(object: DeepReadonly<T>, old: DeepReadonly<T>, context?: Partial<StrategyContext>): FieldError[]
  /** Canonical JSON; or protobuf with its envelope, for kinds that have that form. */
  encode(object: DeepReadonly<T>, form?: 'json' | 'protobuf'): Uint8Array
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
  /** Absent: the rules of metadata alone. */
  readonly policy?: Strategy
  /** Policies work on the storage version; absent when this is it. */
  readonly toStorage?: (object: DeepReadonly<ApiObject>) => ApiObject
}

/** For the generated modules; use their values. */
export function kindHandle<T extends ApiObject>(parts: KindHandleParts): KindHandle<T> {
  const { group, version, kind, resource, namespaced, policy } = parts
  const apiVersion = formatApiVersion(parts)
  let struct: StructType | undefined
  const type = (): StructType => {
    struct ??= parts.types().struct(parts.typeName)
    return struct
  }
  const schemas = new Map<string, ZodSchema<T>>()
  const filled = (object: DeepReadonly<T>): T => {
    const own = copy<T>(applyDefaults(type(), normalize(type(), object as object)))
    policy?.defaults?.(own, version, stockProfile)
    return own
  }
  /** As the policy gets it: filled in, placed, of the storage version, and the policy's to change. */
  const received = (object: DeepReadonly<T>): ApiObject => {
    const named = filled(object)
    place(named.metadata, namespaced)
    return parts.toStorage === undefined ? named : copy<ApiObject>(parts.toStorage(named as DeepReadonly<ApiObject>))
  }
  return {
    group,
    version,
    kind,
    apiVersion,
    resource,
    namespaced,
    type,
    schema(options = {}) {
      const key = `${options.enums ?? true} ${options.loose ?? false}`
      const made = schemas.get(key) ?? createZodSchema<T>(type(), options)
      schemas.set(key, made)
      return made
    },
    create: (members) => ({ apiVersion, kind, ...members }) as unknown as T,
    decode: (input, { strict = true } = {}) => {
      const { object, problems } = read<T>(input, type())
      if (object.kind !== kind || object.apiVersion !== apiVersion) {
        throw new KindsError(
          'InvalidObject',
          `expected ${apiVersion} ${kind}, found ${object.apiVersion || 'no version'} ${object.kind || 'no kind'}`,
        )
      }
      if (strict && problems.length > 0) throw new KindsError('InvalidObject', problems.join(', '))
      return object
    },
    default: filled,
    async ready(object, old) {
      await policy?.ready?.(received(object), old === undefined ? undefined : received(old))
    },
    validate(object, context) {
      const unnamed = missingMembers(object, policy?.requiredMembers?.[''] ?? [])
      if (unnamed.length > 0) return unnamed.map((path) => field.required(path))
      const known = policyContext(context)
      const stored = received(object)
      policy?.prepareForCreate?.(stored, known)
      const rules = { namespaced, name: nameRules.dns1123Subdomain }
      return policy?.validate?.(stored, known) ?? validateObjectMeta(stored.metadata, rules)
    },
    validateUpdate(object, old, context) {
      const known = policyContext(context)
      const before = received(old)
      const stored = received(object)
      policy?.prepareForUpdate?.(stored, before, known)
      if (policy?.validateUpdate !== undefined) return policy.validateUpdate(stored, before, known)
      const rules = { namespaced, name: nameRules.dns1123Subdomain }
      const own = policy?.validate?.(stored, known) ?? validateObjectMeta(stored.metadata, rules)
      return [...validateObjectMetaUpdate(stored.metadata, before.metadata), ...own]
    },
    encode(object, form = 'json') {
      const canonical = normalize(type(), object as object)
      return form === 'json' ? encodeJson(canonical) : encodeProtobuf(type(), canonical)
    },
  }
}

/** Decodes, with the one error of this package. */
function read<T>(input: Uint8Array | string | object, type: StructType): { object: T; problems: readonly string[] } {
  try {
    if (typeof input !== 'string' && !(input instanceof Uint8Array)) return decode<T>(type, input)
    if (typeof input !== 'string' && hasProtobufMagic(input)) return decodeProtobuf<T>(type, readEnvelope(input))
    const { value, duplicates } = parseJson(input, { literals: true })
    return decode<T>(type, value, { duplicates })
  } catch (error) {
    if (error instanceof DecodeError) throw new KindsError('InvalidObject', error.message)
    throw error
  }
}

/** Gives an object of ours the name and namespace that a request would bring along. */
function place(metadata: ApiObject['metadata'], namespaced: boolean): void {
  if (!metadata.name && metadata.generateName) metadata.name = `${metadata.generateName}xxxxx`
  if (!metadata.namespace && namespaced) metadata.namespace = 'default'
}

const usualContext: StrategyContext = {
  clock: systemClock,
  random: systemRandom,
  profile: stockProfile,
  features: /* @__PURE__ */ createFeatures(),
}

function policyContext(given: Partial<StrategyContext> | undefined): StrategyContext {
  return given === undefined ? usualContext : { ...usualContext, ...given }
}
