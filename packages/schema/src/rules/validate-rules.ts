import { memberNames, type Work } from '@krmkit/base/work'
import { createWorkBudget, type Evaluation, longEvaluation, PausedEvaluation } from '@krmkit/cel'
import { ErrorValue, fromJson, Optional, optionalNone, type Value } from '@krmkit/cel/values'
import { type FieldError, field, isJsonObject, type JsonObject, type JsonValue, Path } from '@krmkit/meta'
import { goQuote, trimSpace, utf8Length } from '@krmkit/meta/go-text'
import { omittedValue, restatedError } from '@krmkit/meta/validation'
import { own } from '../json/json-object.ts'
import { itemsByKeys } from '../structural/ratcheting.ts'
import type { Rule } from './rule-compiler.ts'
import { CorrelatedObject, isUnchanged, type RatchetState, ratchetChild, uncorrelated } from './rule-correlation.ts'
import type { RuleNode } from './rule-tree.ts'

/** Validates values against the rules of their schema, with the order and messages of kube-apiserver. */

/** Cost budget of all rules of one object. */
export const requestCostBudget = 10_000_000
const maxMessage = 5 * 1024

export interface RuleValidationOptions {
  readonly path?: Path | undefined
  /** The object before an update: transition rules compare with it, and errors in unchanged parts become warnings. */
  readonly old?: JsonValue | undefined
  /** Whether errors in unchanged parts become warnings. @default true */
  readonly ratcheting?: boolean
  /** Receives warnings. Default: warnings are dropped. */
  readonly warn?: ((text: string) => void) | undefined
  /** Resolves a rule's `fieldPath`; `undefined` when it does not exist. */
  readonly fieldAt?: ((path: string, schema: JsonObject) => string | undefined) | undefined
  /**
   * Remaining cost budget, when several validations share one; negative after a validation has exceeded it or the limit of a
   * rule.
   */
  readonly budget?: { cost: number } | undefined
}

/**
 * Validates a value against the rules of its schema.
 *
 * @returns field errors in the order of kube-apiserver
 * @see {@link createRuleTree}
 */
export function* validateRules(node: RuleNode, value: JsonValue, options: RuleValidationOptions = {}): Work<FieldError[]> {
  const { old, ratcheting = true } = options
  const checker = new RuleValidator(options)
  const ratchet =
    old === undefined || !ratcheting ? uncorrelated : { current: new CorrelatedObject(value, old, node.schema), outer: undefined }
  return yield* checker.run({ node, value, path: options.path, old, ratchet })
}

/** A value and its node of the schema. */
interface Visit {
  readonly node: RuleNode
  readonly value: JsonValue
  readonly path: Path | undefined
  readonly old: JsonValue | undefined
  readonly ratchet: RatchetState
}

/** The next item of a list or entry of a map; `undefined` after the last. */
type NextVisit = () => Visit | undefined

type RuleValues = {
  readonly self: Value
  readonly oldSelf: Value | undefined
}

type BoundRule = RuleNode['rules'][number]

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** Cost that a visited value counts towards the next pause. */
const visitCost = 5

export class RuleValidator {
  readonly #errors: FieldError[] = []
  readonly #options: RuleValidationOptions
  readonly #budget: { cost: number }
  readonly #evaluation = { work: createWorkBudget() }
  #spent = 0
  #stopped = false

  constructor(options: RuleValidationOptions) {
    this.#options = options
    this.#budget = options.budget ?? { cost: requestCostBudget }
  }

  /** Stops the evaluation of further rules. */
  #stop(at?: Pick<Visit, 'node' | 'path'>, detail = ''): void {
    if (at !== undefined) this.#invalid(at, detail)
    this.#stopped = true
    this.#budget.cost = -1
  }

  /** Validates a value, then its parts, depth first. */
  *run(whole: Visit): Work<FieldError[]> {
    const open: (Visit | NextVisit)[] = [whole]
    while (open.length > 0 && !this.#stopped) {
      const next = open[open.length - 1] as Visit | NextVisit
      const visit = typeof next === 'function' ? next() : next
      if (visit === undefined || visit === next) open.pop()
      if (visit === undefined || visit.value === null) continue
      const { node, value } = visit
      const { rules } = node
      if (node.problem !== undefined) this.#invalid(visit, `rule compiler initialization error: ${node.problem}`)
      const values = rules.length === 0 ? undefined : this.#valuesOf(visit)
      for (let i = 0; values !== undefined && i < rules.length && !this.#stopped; i++) {
        const rule = rules[i] as BoundRule
        const started = this.#start(visit, rule, values)
        if (started === undefined) continue
        const evaluation = started instanceof PausedEvaluation ? yield* started.rest() : started
        if (!this.#holds(visit, rule, evaluation)) {
          const message = rule.compiled.message?.start(values, this.#evaluation)
          this.#fail(visit, rule, message instanceof PausedEvaluation ? yield* message.rest() : message)
        }
        if (this.#isDue(evaluation.cost)) yield true
      }
      if (this.#isDue(visitCost)) yield true
      if (isJsonObject(value)) openMembers(visit, value, open)
      else if (Array.isArray(value) && node.items !== undefined) open.push(itemVisits(visit, node.items, value))
    }
    return this.#errors
  }

  /** Whether a pause is due. */
  #isDue(cost: number): boolean {
    this.#spent += cost
    if (this.#spent < longEvaluation) return false
    this.#spent = 0
    return true
  }

  /** Returns the variables of the rules of a node; `undefined` when none may be evaluated. */
  #valuesOf({ node, value, path, old }: Visit): RuleValues | undefined {
    if (this.#budget.cost <= 0) {
      this.#stop({ node, path }, outOfBudget)
      return undefined
    }
    return { self: node.adapt(value), oldSelf: old === undefined || old === null ? undefined : node.adapt(old) }
  }

  /** Starts the evaluation of a rule; `undefined` when it does not apply to this value. */
  #start(visit: Visit, { rule, compiled }: BoundRule, values: RuleValues): Evaluation | PausedEvaluation | undefined {
    if (compiled.problem !== undefined) this.#invalid(visit, `rule compile error: ${compiled.problem}`)
    const { program } = compiled
    const { self, oldSelf } = values
    const optional = rule.optionalOldSelf === true
    if (program === undefined || (compiled.usesOldSelf && oldSelf === undefined && !optional)) return undefined
    return program.start(optional ? { self, oldSelf: optionalOf(oldSelf, visit.old) } : values, this.#evaluation)
  }

  /** Whether a rule is finished: it holds, or its error is recorded. */
  #holds(visit: Visit, { rule }: BoundRule, { value, cost, exceeded }: Evaluation): boolean {
    if (cost > this.#budget.cost) {
      this.#stop(visit, outOfBudget)
      return true
    }
    this.#budget.cost -= cost
    if (!(value instanceof ErrorValue)) return value === true
    const shown = ruleText(rule)
    if (exceeded) {
      this.#stop(
        visit,
        `'${value.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`,
      )
    } else if (value.message.startsWith('no such overload')) {
      this.#invalid(
        visit,
        `'${value.message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`,
      )
    } else this.#invalid(visit, `${value.message} evaluating rule: ${shown}`)
    return true
  }

  /** Records the error of a violated rule. It shows the type of the value, from 1.35 on the value if it is a scalar. */
  #fail({ node, path, value, ratchet }: Visit, { rule, compiled }: BoundRule, evaluated: Evaluation | undefined): void {
    const place = this.#placeOf(rule, node, path)
    const add = (error: FieldError): void => {
      if (!compiled.usesOldSelf && isUnchanged(ratchet)) this.#options.warn?.(`${error.field}: ${error.message}`)
      else this.#errors.push(error)
    }
    const message = this.#message(rule, evaluated)
    if ('failed' in message) {
      add(field.invalid(place, node.typeName, message.failed))
      this.#stop()
      return
    }
    const detail = message.text
    const isPart = node.typeName === 'object' || node.typeName === 'array'
    const later = errorFor(rule, place, { value: isPart ? omittedValue : value, detail })
    add(restatedError(errorFor(rule, place, { value: node.typeName, detail }), { since: '1.35', errors: [later] }))
  }

  #invalid({ node, path }: Pick<Visit, 'node' | 'path'>, detail: string): void {
    this.#errors.push(field.invalid(path, node.typeName, detail))
  }

  #placeOf({ fieldPath = '' }: Rule, { schema }: RuleNode, path: Path | undefined): Path | undefined {
    const found = fieldPath === '' ? undefined : this.#options.fieldAt?.(fieldPath, schema)
    if (found === undefined || found === '') return path
    return path === undefined ? Path.of(found) : path.child(found)
  }

  /** Returns the evaluated message, or the static message when the evaluated one is unusable. */
  #message(rule: Rule, evaluated: Evaluation | undefined): { text: string } | { failed: string } {
    const plain = { text: (rule.message ?? '') === '' ? `failed rule: ${ruleText(rule)}` : trimSpace(rule.message as string) }
    if (evaluated === undefined) return plain
    const { value, cost, exceeded } = evaluated
    if (cost > this.#budget.cost) {
      return {
        failed: 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      }
    }
    if (exceeded) {
      const source = goQuote(rule.messageExpression ?? '')
      return { failed: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}` }
    }
    this.#budget.cost -= cost
    const text = typeof value === 'string' ? trimSpace(value) : ''
    return text === '' || text.includes('\n') || utf8Length(text) > maxMessage ? plain : { text }
  }
}

function itemVisits(
  { node: { listMapKeys: mapKeys }, path, old, ratchet }: Visit,
  items: RuleNode,
  list: readonly JsonValue[],
): NextVisit {
  const oldOf = itemsByKeys(old, mapKeys)
  let i = 0
  return () => {
    if (i === list.length) return undefined
    const value = list[i] as JsonValue
    const before = oldOf(value)
    const place = path === undefined ? undefined : path.index(i)
    i++
    const inner = ratchetChild(ratchet, value, { old: before, schema: items.schema })
    return { node: items, value, path: place, old: before, ratchet: inner }
  }
}

function entryVisits({ path, old, ratchet }: Visit, values: RuleNode, object: JsonObject): NextVisit {
  const keys = memberNames(object)
  let i = 0
  return () => {
    const key = keys[i++]
    if (key === undefined) return undefined
    const value = object[key] as JsonValue
    const before = memberOf(old, key)
    const place = path === undefined ? Path.of('').key(key) : path.key(key)
    const inner = ratchetChild(ratchet, value, { old: before, schema: values.schema })
    return { node: values, value, path: place, old: before, ratchet: inner }
  }
}

/** Pushes the members that have rules, the first one last. */
function openMembers(visit: Visit, object: JsonObject, open: (Visit | NextVisit)[]): void {
  const { node, path, old, ratchet } = visit
  const from = open.length
  for (const [key, inner] of node.properties) {
    if (!Object.hasOwn(object, key)) continue
    const value = object[key] as JsonValue
    const before = memberOf(old, key)
    const place = path === undefined ? Path.of(key) : path.child(key)
    // Both objects have the same version here, so their original versions cannot be compared.
    const isRootType = ratchet.outer === undefined && (key === 'apiVersion' || key === 'kind')
    const state = isRootType ? uncorrelated : ratchetChild(ratchet, value, { old: before, schema: inner.schema })
    open.push({ node: inner, value, path: place, old: before, ratchet: state })
  }
  if (open.length > from + 1) open.push(...open.splice(from).reverse())
  if (node.values !== undefined) open.push(entryVisits(visit, node.values, object))
}

function memberOf(old: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(old) ? own(old, key) : undefined
}

/** As in kube-apiserver, objects and lists inside an optional variable have no schema. */
function optionalOf(adapted: Value | undefined, raw: JsonValue | undefined): Optional {
  if (adapted === undefined) return optionalNone
  return new Optional(typeof raw === 'object' ? fromJson(raw) : adapted)
}

function ruleText({ rule, message = '' }: Rule): string {
  return trimSpace(message === '' ? rule : message)
}

function errorFor({ reason }: Rule, place: Path | undefined, { value, detail }: { value: unknown; detail: string }): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return field.forbidden(place, detail)
    case 'FieldValueRequired':
      return field.required(place, detail)
    case 'FieldValueDuplicate':
      return field.duplicate(place, value)
    default:
      return field.invalid(place, value, detail)
  }
}
