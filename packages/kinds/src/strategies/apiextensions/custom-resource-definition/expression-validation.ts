import type { Work } from '@krmkit/base/work'
import type { CompileBudget, Environment } from '@krmkit/cel'
import { type DeepReadonly, type FieldError, field, type JsonObject, type Path } from '@krmkit/meta'
import { goText } from '@krmkit/meta/go-text'
import { collectErrors } from '@krmkit/meta/paced'
import type { ErrorList } from '@krmkit/meta/validation'
import { cel } from '@krmkit/schema'
import type { CompiledRule, Rule } from '@krmkit/schema/rules'
import type { CustomResourceDefinition } from '../../../types/apiextensions-v1.generated.ts'
import { goRule } from './go-form.ts'
import { itemsOf } from './list-markers.ts'
import { type Schema, sortedNames } from './schema.ts'

/** Expressions of `x-kubernetes-validations`: compilation and estimated cost. */

export interface ExpressionRuleOptions {
  /** Environment of an expression; stored expressions may use more than new ones. */
  environment(expression: string): Environment
  /** The schema is unchanged, so only the total cost of its rules is reported. */
  readonly unchanged: boolean
  /** Paths of the schemas with other errors in them: their expressions are not compiled. */
  readonly faulty: ReadonlySet<string>
}

/** Maximum estimated cost of one rule, and of all rules of a schema. */
const ruleLimit = 10_000_000
const schemaLimit = 100_000_000

/**
 * Validates the expressions of a structural schema.
 *
 * @param path of the schema.
 */
export function* validateExpressions(schema: Schema, path: Path, options: ExpressionRuleOptions): Work<FieldError[]> {
  const ruled = new Set<Schema>()
  if (!(yield* collectRuledSchemas(schema, ruled))) return []
  const rules = new RulesWalk(options, ruled)
  const errors = yield* collectErrors((found) =>
    rules.visit(schema, { path, cardinality: 1, uncorrelated: undefined, root: true, scope: 'outside' }, found),
  )
  return [...errors, ...rules.totalErrors(path)]
}

/** All expressions of a definition. */
export function* expressionsOf(definition: DeepReadonly<CustomResourceDefinition> | undefined): Work<ReadonlySet<string>> {
  const found = new Set<string>()
  const visit = function* (schema: Schema): Work {
    yield
    for (const { rule, messageExpression = '' } of schema['x-kubernetes-validations'] ?? []) {
      found.add(rule)
      found.add(messageExpression)
    }
    const { additionalProperties: rest } = schema
    const items = itemsOf(schema)
    if (items !== undefined) yield* visit(items)
    if (typeof rest === 'object' && rest !== null) yield* visit(rest)
    for (const property of Object.values(schema.properties ?? {})) yield* visit(property)
  }
  for (const { schema } of definition?.spec.versions ?? [])
    if (schema?.openAPIV3Schema !== undefined) yield* visit(schema.openAPIV3Schema)
  return found
}

interface At {
  readonly path: Path
  /** Maximum number of values of the schema; `undefined`: as many as fit into a request. */
  readonly cardinality: number | undefined
  /** The outermost part whose old and new values cannot be correlated. */
  readonly uncorrelated: Path | undefined
  readonly root: boolean
  /**
   * Whether a schema around this one has rules, whether one of those inside it has a type that expressions cannot access, and whether one
   * describes the elements of a type without elements.
   */
  readonly scope: 'outside' | 'typed' | 'untyped' | 'undeclared'
}

class RulesWalk {
  readonly #options: ExpressionRuleOptions
  readonly #ruled: ReadonlySet<Schema>
  #budget: CompileBudget | undefined
  #total = 0
  #costly: { path: Path; cost: number }[] = []

  constructor(options: ExpressionRuleOptions, ruled: ReadonlySet<Schema>) {
    this.#options = options
    this.#ruled = ruled
  }

  /** Inner schemas first, as on kube-apiserver. */
  *visit(schema: Schema, at: At, errors: ErrorList): Work {
    if (!this.#ruled.has(schema)) return
    yield
    const { path } = at
    const cardinality = inner(schema, at.cardinality)
    const mapType = schema['x-kubernetes-map-type'] ?? 'granular'
    const uncorrelatedMembers = ['granular', 'atomic'].includes(mapType) ? at.uncorrelated : (at.uncorrelated ?? path)
    const rules = (schema['x-kubernetes-validations'] ?? []) as readonly Rule[]
    const scope = scopeOf(schema, at, rules.length > 0)
    const member = { cardinality, uncorrelated: uncorrelatedMembers, root: false, scope }
    const element = { ...member, scope: scope === 'typed' && !hasElements(schema) ? 'undeclared' : scope } as const
    const { additionalProperties: rest } = schema
    if (typeof rest === 'object' && rest !== null) {
      yield* this.visit(rest, { ...element, path: path.child('additionalProperties') }, errors)
    }
    for (const name of yield* sortedNames(schema.properties)) {
      const property = schema.properties?.[name] as Schema
      yield* this.visit(property, { ...member, path: path.child('properties').key(name) }, errors)
    }
    const items = itemsOf(schema)
    if (items !== undefined) {
      const uncorrelated = schema['x-kubernetes-list-type'] === 'map' ? at.uncorrelated : (at.uncorrelated ?? path)
      yield* this.visit(items, { ...element, path: path.child('items'), uncorrelated }, errors)
    }
    if (rules.length > 0 && !this.#options.faulty.has(String(path))) yield* this.#rules(schema, { rules, at, scope }, errors)
  }

  *#rules(
    schema: Schema,
    { rules, at, scope }: { readonly rules: readonly Rule[]; readonly at: At; readonly scope: At['scope'] },
    errors: ErrorList,
  ): Work {
    const { engine } = cel()
    this.#budget ??= engine.createCompileBudget()
    const place = at.path.child('x-kubernetes-validations')
    if (scope === 'undeclared') {
      errors.push(field.internal(place, 'failed to convert to declType for CEL validation rules'))
      return
    }
    const declared =
      scope === 'untyped' ? undefined : engine.schemaDeclType(schema as JsonObject, 'selfType', at.root || isEmbedded(schema))
    if (declared === undefined) {
      const why = 'unable to convert structural schema to CEL declarations'
      const what = 'internal error: failed to construct type information for x-kubernetes-validations rules'
      errors.push(field.internal(place, `${what}: ${why}`))
      return
    }
    const times = at.cardinality ?? engine.maxCardinality(declared)
    for (const [index, rule] of rules.entries()) {
      const compiled = engine.compileRule(rule, declared, {
        environment: this.#options.environment,
        estimate: true,
        budget: this.#budget,
      })
      this.#costs(compiled, { path: place.index(index), times }, errors)
      validateCompiled(rule, compiled, { path: place.index(index), uncorrelated: at.uncorrelated }, errors)
      yield true
    }
  }

  #costs(compiled: CompiledRule, { path, times }: { readonly path: Path; readonly times: number }, errors: ErrorList): void {
    const cost = compiled.maxCost === 0 ? 0 : compiled.maxCost * times
    this.#observe(path.child('rule'), { cost, what: 'estimated rule cost' }, errors)
    if (compiled.message !== undefined) {
      const cost = compiled.messageMaxCost
      this.#observe(path.child('messageExpression'), { cost, what: 'estimated messageExpression cost' }, errors)
    }
  }

  #observe(path: Path, { cost, what }: { readonly cost: number; readonly what: string }, errors: ErrorList): void {
    if (!this.#options.unchanged && cost > ruleLimit) errors.push(field.forbidden(path, overBudget(what, cost, ruleLimit)))
    this.#total += cost
    // Costs below one percent do not explain the total.
    if (cost < schemaLimit / 100) return
    this.#costly = [...this.#costly, { path, cost }].sort((a, b) => b.cost - a.cost).slice(0, 4)
  }

  totalErrors(path: Path): FieldError[] {
    if (this.#total <= schemaLimit) return []
    const part = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    const sum = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...this.#costly.map((each) => field.forbidden(each.path, part)),
      field.forbidden(path, overBudget(sum, this.#total, schemaLimit)),
    ]
  }
}

/** A schema without rules in it and around it needs no type. */
function scopeOf(schema: Schema, { root, scope }: At, hasRules: boolean): At['scope'] {
  if (scope === 'untyped' || scope === 'undeclared' || (scope === 'outside' && !hasRules)) return scope
  return isTyped(schema, root || isEmbedded(schema)) ? 'typed' : 'untyped'
}

/** Whether values of the type of the schema have elements. */
function hasElements(schema: Schema): boolean {
  const { type, additionalProperties: rest } = schema
  return type === 'array' ? itemsOf(schema) !== undefined : type === 'object' && typeof rest === 'object' && rest !== null
}

/** Whether expressions can access values of the schema: those of known types, and lists and maps of such values. */
function isTyped(schema: Schema, whole: boolean): boolean {
  if (schema['x-kubernetes-int-or-string'] === true) return true
  const { type = '', additionalProperties: rest } = schema
  if (type === 'array') {
    const items = itemsOf(schema)
    return items !== undefined && isTyped(items, isEmbedded(items))
  }
  if (type === 'object') return whole || typeof rest !== 'object' || rest === null || isTyped(rest, isEmbedded(rest))
  return ['string', 'boolean', 'number', 'integer'].includes(type)
}

function isEmbedded(schema: Schema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true
}

function validateCompiled(
  rule: Rule,
  compiled: CompiledRule,
  { path, uncorrelated }: { readonly path: Path; readonly uncorrelated: Path | undefined },
  errors: ErrorList,
): void {
  const invalid = (name: string, value: unknown, detail: string) => errors.push(field.invalid(path.child(name), value, detail))
  if (compiled.problem !== undefined) invalid('rule', goText(goRule(rule)), compiled.problem)
  if (compiled.messageProblem !== undefined) invalid('messageExpression', goText(goRule(rule)), compiled.messageProblem)
  if (compiled.usesOldSelf && uncorrelated !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`
    invalid('rule', rule.rule, detail)
  } else if (!compiled.usesOldSelf && rule.optionalOldSelf !== undefined && rule.optionalOldSelf !== null) {
    invalid('optionalOldSelf', rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule')
  }
}

/** Collects the schemas that have rules or contain schemas with rules. @returns whether this is one. */
function* collectRuledSchemas(schema: Schema, found: Set<Schema>): Work<boolean> {
  yield
  const { additionalProperties: rest, properties } = schema
  const items = itemsOf(schema)
  let ruled = (schema['x-kubernetes-validations']?.length ?? 0) > 0
  if (typeof rest === 'object' && rest !== null && (yield* collectRuledSchemas(rest, found))) ruled = true
  if (items !== undefined && (yield* collectRuledSchemas(items, found))) ruled = true
  for (const name of Object.keys(properties ?? {}))
    if (yield* collectRuledSchemas(properties?.[name] as Schema, found)) ruled = true
  if (ruled) found.add(schema)
  return ruled
}

/** Maximum number of inner values. */
function inner(schema: Schema, outer: number | undefined): number | undefined {
  if (outer === undefined) return undefined
  let limit: number | null | undefined = 1
  if (schema.type === 'array') limit = schema.maxItems
  else if (schema.type === 'object' && schema.additionalProperties !== undefined) limit = schema.maxProperties
  return limit === undefined || limit === null ? undefined : outer * Math.max(0, Number(limit))
}

function overBudget(what: string, cost: number, limit: number): string {
  const times = cost / limit
  const factor = times > 100 ? 'more than 100x' : `${times.toFixed(times < 1.5 ? 6 : 1)}x`
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'
  return `${what} exceeds budget by factor of ${factor} (${advice})`
}
