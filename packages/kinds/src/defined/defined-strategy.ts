import type { Work } from '@krmkit/base/work'
import { type ApiObject, type DeepReadonly, type FieldError, field, type JsonValue, Path } from '@krmkit/meta'
import { isSameJson } from '../custom/custom-strategy.ts'
import type { ResourceDefinition, Strategy, StrategyContext } from '../interfaces.ts'
import { preparationWork } from '../preparation.ts'
import { runValidation, validationWork } from '../validation.ts'
import type { MemberSchema, ResourceOptions, ResourceStrategy, VersionOptions, VersionTable } from './interfaces.ts'

/**
 * Adds the rules of the zod schema and the hooks of the strategy to the strategy derived from the structural schema. Hooks see
 * objects of the storage version, whatever the version of the request, and only objects that the schema accepts.
 */

type Frozen = DeepReadonly<ApiObject>

/** Adds the rules of the zod schema and the hooks of the strategy to a definition. */
export function withZodRules(
  definition: ResourceDefinition,
  options: ResourceOptions<VersionTable>,
  storageVersion: string,
): ResourceDefinition {
  const { strategy: base, version } = definition
  const { schema } = options.versions[version] as VersionOptions
  const hub = hubOf(options, storageVersion)
  const status = base.subresources?.status
  const { prepareForCreate, prepareForUpdate, validate, validateStatus, warnings } = (options.strategy ?? {}) as ResourceStrategy
  const orZodErrors = (errors: FieldError[], object: Frozen, old?: Frozen): FieldError[] =>
    errors.length > 0 ? errors : zodErrors(schema, object, old)
  /** Ignores errors of a hook if the object is invalid; validation reports it. */
  const runHook = (object: ApiObject, context: StrategyContext, hook: (draft: ApiObject) => void): void => {
    try {
      hub.change(object, hook)
    } catch (error) {
      if (runValidation(base.validate?.(object, context)).length === 0) throw error
    }
  }
  const withWarnings: Pick<Strategy, 'warnings'> =
    warnings === undefined
      ? {}
      : {
          warnings: (object, old, context) => [
            ...warnings(hub.toHub(object), old === undefined ? undefined : hub.toHub(old), context),
          ],
        }
  const next: Strategy = {
    ...base,
    *prepareForCreate(object, context) {
      yield* preparationWork(base.prepareForCreate?.(object, context))
      if (prepareForCreate !== undefined) runHook(object, context, (draft) => prepareForCreate(draft, context))
    },
    *prepareForUpdate(object, old, context) {
      if (prepareForUpdate !== undefined)
        runHook(object, context, (draft) => prepareForUpdate(draft, hub.toHub(old) as Frozen, context))
      yield* preparationWork(base.prepareForUpdate?.(object, old, context))
    },
    *validate(object, context) {
      const errors = orZodErrors(yield* validationWork(base.validate?.(object, context)), object)
      yield true
      return errors.length > 0 || validate === undefined ? errors : [...validate(hub.toHub(object), undefined, context)]
    },
    *validateUpdate(object, old, context) {
      const own = yield* validationWork(base.validateUpdate?.(object, old, context))
      const errors = orZodErrors(own, object, hub.toVersionOf(old, object))
      yield true
      return errors.length > 0 || validate === undefined ? errors : [...validate(hub.toHub(object), hub.toHub(old), context)]
    },
    ...withWarnings,
    ...(status === undefined
      ? {}
      : {
          subresources: {
            status: {
              prepareForUpdate: status.prepareForUpdate,
              ...withWarnings,
              *validateUpdate(object: Frozen, old: Frozen, context: StrategyContext): Work<FieldError[]> {
                const own = yield* validationWork(status.validateUpdate(object, old, context))
                const errors = orZodErrors(own, object, hub.toVersionOf(old, object))
                if (errors.length > 0 || validateStatus === undefined) return errors
                return [...validateStatus(hub.toHub(object), hub.toHub(old), context)]
              },
            },
          },
        }),
  }
  return { ...definition, strategy: next, definedInCode: true }
}

interface HubConversion {
  /** Converts the object to the storage version. */
  toHub(object: Frozen): Frozen
  /** Converts the object to the version of `like`. */
  toVersionOf(object: Frozen, like: Frozen): Frozen
  /** Applies `change` to the object in the storage version. */
  change(object: ApiObject, change: (draft: ApiObject) => void): void
}

function hubOf({ group, conversions = {} }: ResourceOptions<VersionTable>, storageVersion: string): HubConversion {
  const stored = `${group}/${storageVersion}`
  const known = new Map(Object.entries(conversions).map(([name, each]) => [`${group}/${name}`, each]))
  const toHub = (object: Frozen): Frozen => {
    if (object.apiVersion === stored) return object
    const members = known.get(object.apiVersion)?.toStorage(object) ?? object
    return { ...members, apiVersion: stored, kind: object.kind } as Frozen
  }
  const toVersionOf = (object: Frozen, { apiVersion, kind }: Frozen): Frozen => {
    if (object.apiVersion === apiVersion) return object
    const hub = toHub(object)
    return { ...(known.get(apiVersion)?.fromStorage(hub) ?? hub), apiVersion, kind } as Frozen
  }
  return {
    toHub,
    toVersionOf,
    change(object, change) {
      const before = toHub(object as Frozen)
      const draft = structuredClone(before) as ApiObject
      change(draft)
      // Skips the conversion if the hook changed nothing.
      if (isSameJson(draft as never, before as never)) return
      const after = toVersionOf(draft as Frozen, object as Frozen) as ApiObject
      for (const name of Object.keys(object)) if (!Object.hasOwn(after, name)) delete (object as Members)[name]
      Object.assign(object, after)
    },
  }
}

type Members = Record<string, unknown>

/**
 * Errors that only the zod schema finds. An absent status is not validated; an update may keep already invalid values
 * unchanged.
 */
function zodErrors(schema: MemberSchema, object: Frozen, old: Frozen | undefined): FieldError[] {
  const given = membersOf(schema, object)
  const { error } = schema.safeParse(given)
  if (error === undefined) return []
  const before = old === undefined ? undefined : membersOf(schema, old)
  return error.issues
    .filter(({ path: [first] }) => first !== 'status' || given.status !== undefined)
    .filter(({ path, code }) => {
      // The path of a refinement may point at a part; the value it judges is the whole.
      const whole = code === 'custom' ? path.slice(0, -1) : path
      return before === undefined || !isSameJson(valueAt(given, whole), valueAt(before, whole))
    })
    .map(({ path, message }) => {
      const value = valueAt(given, path)
      return value === undefined ? field.required(pathOf(path), message) : field.invalid(pathOf(path), value, message)
    })
}

function membersOf(schema: MemberSchema, object: Frozen): Members {
  const members = object as unknown as Readonly<Members>
  const given: Members = {}
  for (const name of Object.keys(schema.shape)) if (Object.hasOwn(members, name)) given[name] = members[name]
  return given
}

function pathOf([first, ...rest]: readonly PropertyKey[]): Path | undefined {
  if (first === undefined) return undefined
  return rest.reduce<Path>(
    (at, step) => (typeof step === 'number' ? at.index(step) : at.child(String(step))),
    Path.of(String(first)),
  )
}

function valueAt(value: unknown, path: readonly PropertyKey[]): JsonValue | undefined {
  let at = value
  for (const step of path) at = typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[step] : undefined
  return at as JsonValue | undefined
}
