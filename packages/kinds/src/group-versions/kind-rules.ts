import {
  type ApiObject,
  createFeatures,
  type DeepReadonly,
  type FieldError,
  nameRules,
  stockProfile,
  systemClock,
  systemRandom,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@krmkit/meta'
import { applyDefaults, decode, type StructType } from '@krmkit/schema'
import { copyJson } from '@krmkit/schema/json'
import type { Strategy, StrategyContext } from '../interfaces.ts'
import { runPreparation } from '../preparation.ts'
import { missingErrors, newlyMissing } from '../strategies/required-members.ts'
import { runValidation } from '../validation.ts'
import { decodeObject, type ObjectKind, requireObject, withDecodeErrors } from './decoded-kind.ts'

interface KindRules<T extends ApiObject> {
  default(object: DeepReadonly<T>): T
  ready(object: DeepReadonly<T>, old?: DeepReadonly<T>): Promise<void>
  validate(object: DeepReadonly<T>, context?: Partial<StrategyContext>): FieldError[]
  validateUpdate(object: DeepReadonly<T>, old: DeepReadonly<T>, context?: Partial<StrategyContext>): FieldError[]
}

interface RuleParts {
  readonly version: string
  readonly namespaced: boolean
  readonly strategy?: Strategy
  readonly toStorage?: (object: DeepReadonly<ApiObject>) => ApiObject
}

/** The methods of a handle that apply the rules of its kind. */
export function kindRules<T extends ApiObject>(
  { version, namespaced, strategy, toStorage }: RuleParts,
  own: ObjectKind,
  type: () => StructType,
): KindRules<T> {
  const decoding = { ...own, keepEmpties: strategy?.distinctEmpties }
  const read = (object: unknown) => {
    requireObject(object, own)
    return decodeObject<T>(type(), object, decoding)
  }
  const readStored = (object: unknown) => {
    requireObject(object, own)
    return withDecodeErrors(() => decode<T>(type(), object, { collect: false }).object)
  }
  /** @param object decoded; it may be changed. */
  const withDefaults = (object: object): T => {
    const complete = applyDefaults(type(), object) as T
    runPreparation(strategy?.defaults?.(complete, version, stockProfile))
    return complete
  }
  /** The decoded object as a strategy receives it: defaulted, named, converted to the storage version, mutable. */
  const prepareObject = (object: T): ApiObject => {
    const named = withDefaults(object)
    setName(named.metadata, namespaced)
    return toStorage === undefined ? named : copyJson(toStorage(named as DeepReadonly<ApiObject>))
  }
  const validateNew = (stored: ApiObject, context: StrategyContext): readonly FieldError[] => {
    const validation = strategy?.validate?.(stored, context)
    const rules = { namespaced, name: nameRules.dns1123Subdomain }
    return validation === undefined ? validateObjectMeta(stored.metadata, rules) : runValidation(validation)
  }
  const required = strategy?.requiredMembers?.['']
  return {
    default: (object) => withDefaults(readStored(object)),
    async ready(object, old) {
      const given = read(object).object
      const before = old === undefined ? undefined : read(old).object
      if (given === undefined) return
      if (before !== undefined) await strategy?.loadDifferences?.()
      await strategy?.ready?.(prepareObject(given), before === undefined ? undefined : prepareObject(before))
    },
    validate(object, context) {
      const decoded = read(object)
      if (decoded.errors !== undefined) return decoded.errors
      const fullContext = strategyContext(context)
      const stored = prepareObject(decoded.object)
      runPreparation(strategy?.prepareForCreate?.(stored, fullContext))
      return [...missingErrors(object, required), ...validateNew(stored, fullContext)]
    },
    validateUpdate(object, old, context) {
      const decoded = read(object)
      if (decoded.errors !== undefined) return decoded.errors
      const fullContext = strategyContext(context)
      const before = prepareObject(readStored(old))
      const stored = prepareObject(decoded.object)
      runPreparation(strategy?.prepareForUpdate?.(stored, before, fullContext))
      const validation = strategy?.validateUpdate?.(stored, before, fullContext)
      const errors =
        validation === undefined
          ? [...validateObjectMetaUpdate(stored.metadata, before.metadata), ...validateNew(stored, fullContext)]
          : runValidation(validation)
      return [...newlyMissing(missingErrors(object, required), old, required), ...errors]
    },
  }
}

/** Sets the name and namespace that a request would set. */
function setName(metadata: ApiObject['metadata'], namespaced: boolean): void {
  if (!metadata.name && metadata.generateName) metadata.name = `${metadata.generateName}xxxxx`
  if (!metadata.namespace && namespaced) metadata.namespace = 'default'
}

const defaultContext: StrategyContext = {
  clock: systemClock,
  random: systemRandom,
  profile: stockProfile,
  features: /* @__PURE__ */ createFeatures(),
}

function strategyContext(given: Partial<StrategyContext> | undefined): StrategyContext {
  return given === undefined ? defaultContext : { ...defaultContext, ...given }
}
