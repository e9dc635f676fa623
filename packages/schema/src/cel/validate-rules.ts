import { type FieldError, field, isJsonObject, type JsonObject, type JsonValue, Path } from '@krmkit/meta'
import { goQuote, trimSpace, utf8Length } from '@krmkit/meta/go-text'
import { own } from '../json/json-object.ts'
import { itemsByKeys } from '../structural/ratcheting.ts'
import { fromJson } from './json-values.ts'
import { createWorkBudget, type WorkBudget } from './meter.ts'
import type { Program } from './program.ts'
import type { CompiledRule, Rule } from './rule-compiler.ts'
import { CorrelatedObject, isUnchanged, type RatchetState, ratchetChild, uncorrelated } from './rule-correlation.ts'
import type { RuleNode } from './rule-tree.ts'
import { ErrorValue, Optional, optionalNone, type Value } from './values.ts'

/** Validates values against the rules of their schema, with the order and messages of the stock server. */

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
  /** Remaining cost budget, when several validations share one; negative when one has exceeded it or a limit of a rule. */
  readonly budget?: { cost: number } | undefined
}

/**
 * Validates a value against the rules of its schema.
 *
 * @returns field errors in the order of the stock server
 * @see {@link createRuleTree}
 */
export function validateRules(node: RuleNode, value: JsonValue, options: RuleValidationOptions = {}): FieldError[] {
  const { old, ratcheting = true } = options
  const checker = new RuleValidator(options)
  const ratchet =
    old === undefined || !ratcheting ? uncorrelated : { current: new CorrelatedObject(value, old, node.schema), outer: undefined }
  checker.visit(node, value, { path: options.path, old, ratchet })
  return checker.errors
}

interface Location {
  readonly path: Path | undefined
  readonly old: JsonValue | undefined
  readonly ratchet: RatchetState
}

class RuleValidator {
  readonly errors: FieldError[] = []
  readonly #options: RuleValidationOptions
  readonly #budget: { cost: number }
  readonly #work: WorkBudget = createWorkBudget()
  #stopped = false

  constructor(options: RuleValidationOptions) {
    this.#options = options
    this.#budget = options.budget ?? { cost: requestCostBudget }
  }

  /** No further rules are evaluated. */
  #stop(): void {
    this.#stopped = true
    this.#budget.cost = -1
  }

  visit(node: RuleNode, value: JsonValue, at: Location): void {
    if (value === null || this.#stopped) return
    this.#rules(node, value, at)
    if (Array.isArray(value)) this.#items(node, value, at)
    else if (isJsonObject(value)) this.#members(node, value, at)
  }

  #items({ items, listMapKeys: mapKeys }: RuleNode, list: readonly JsonValue[], { path, old, ratchet }: Location): void {
    if (items === undefined) return
    const oldOf = itemsByKeys(old, mapKeys)
    for (let i = 0; i < list.length && !this.#stopped; i++) {
      const item = list[i] as JsonValue
      const before = oldOf(item)
      const place = path === undefined ? undefined : path.index(i)
      this.visit(items, item, {
        path: place,
        old: before,
        ratchet: ratchetChild(ratchet, item, { old: before, schema: items.schema }),
      })
    }
  }

  #members({ properties, values }: RuleNode, object: JsonObject, { path, old, ratchet }: Location): void {
    const before = (key: string) => (isJsonObject(old) ? own(old, key) : undefined)
    if (values !== undefined) {
      for (const key of Object.keys(object)) {
        if (this.#stopped) return
        const value = object[key] as JsonValue
        const place = path === undefined ? Path.of('').key(key) : path.key(key)
        const inner = ratchetChild(ratchet, value, { old: before(key), schema: values.schema })
        this.visit(values, value, { path: place, old: before(key), ratchet: inner })
      }
    }
    for (const [key, node] of properties) {
      if (this.#stopped || !Object.hasOwn(object, key)) continue
      const value = object[key] as JsonValue
      const place = path === undefined ? Path.of(key) : path.child(key)
      // Both objects have the same version here, so their original versions cannot be compared.
      const isRootType = ratchet.outer === undefined && (key === 'apiVersion' || key === 'kind')
      const inner = isRootType ? uncorrelated : ratchetChild(ratchet, value, { old: before(key), schema: node.schema })
      this.visit(node, value, { path: place, old: before(key), ratchet: inner })
    }
  }

  #rules(node: RuleNode, value: JsonValue, at: Location): void {
    const invalid = (detail: string) => this.errors.push(field.invalid(at.path, node.typeName, detail))
    if (node.problem !== undefined) invalid(`rule compiler initialization error: ${node.problem}`)
    if (node.rules.length === 0) return
    if (this.#budget.cost <= 0) {
      invalid('validation failed due to running out of cost budget, no further validation rules will be run')
      this.#stop()
      return
    }
    const self = node.adapt(value)
    const oldSelf = at.old === undefined || at.old === null ? undefined : node.adapt(at.old)
    for (const { rule, compiled } of node.rules) {
      if (compiled.problem !== undefined) invalid(`rule compile error: ${compiled.problem}`)
      const { program } = compiled
      const optional = rule.optionalOldSelf === true
      if (program === undefined || (compiled.usesOldSelf && oldSelf === undefined && !optional)) continue
      const seen = optional ? optionalOf(oldSelf, at.old) : oldSelf
      this.#one({ node, rule, compiled, program }, { self, oldSelf: seen, plainOldSelf: oldSelf }, at)
      if (this.#stopped) return
    }
  }

  #one(
    { node, rule, compiled, program }: { node: RuleNode; rule: Rule; compiled: CompiledRule; program: Program },
    { self, oldSelf, plainOldSelf }: { self: Value; oldSelf: Value | undefined; plainOldSelf: Value | undefined },
    { path, ratchet }: Location,
  ): void {
    const invalid = (detail: string) => this.errors.push(field.invalid(path, node.typeName, detail))
    const { value, cost, exceeded } = program.evaluate({ self, oldSelf }, { work: this.#work })
    if (cost > this.#budget.cost) {
      invalid('validation failed due to running out of cost budget, no further validation rules will be run')
      this.#stop()
      return
    }
    this.#budget.cost -= cost
    if (value instanceof ErrorValue) {
      const shown = ruleText(rule)
      if (exceeded) {
        invalid(`'${value.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`)
        this.#stop()
      } else if (value.message.startsWith('no such overload')) {
        invalid(
          `'${value.message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`,
        )
      } else invalid(`${value.message} evaluating rule: ${shown}`)
      return
    }
    if (value === true) return
    const place = this.#placeOf(rule, node, path)
    const add = (error: FieldError): void => {
      if (!compiled.usesOldSelf && isUnchanged(ratchet)) this.#options.warn?.(`${error.field}: ${error.message}`)
      else this.errors.push(error)
    }
    const message = this.#message(rule, compiled, { self, oldSelf: plainOldSelf })
    if ('failed' in message) {
      add(field.invalid(place, node.typeName, message.failed))
      this.#stop()
      return
    }
    add(errorFor(rule, place, { value: node.typeName, detail: message.text }))
  }

  #placeOf({ fieldPath = '' }: Rule, { schema }: RuleNode, path: Path | undefined): Path | undefined {
    const found = fieldPath === '' ? undefined : this.#options.fieldAt?.(fieldPath, schema)
    if (found === undefined || found === '') return path
    return path === undefined ? Path.of(found) : path.child(found)
  }

  /** The evaluated message, or the static one when that is unusable. */
  #message(
    rule: Rule,
    { message }: CompiledRule,
    variables: Readonly<Record<string, Value | undefined>>,
  ): { text: string } | { failed: string } {
    const plain = { text: (rule.message ?? '') === '' ? `failed rule: ${ruleText(rule)}` : trimSpace(rule.message as string) }
    if (message === undefined) return plain
    const source = goQuote(rule.messageExpression ?? '')
    const { value, cost, exceeded } = message.evaluate(variables, { work: this.#work })
    if (cost > this.#budget.cost) {
      return {
        failed: 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      }
    }
    if (exceeded)
      return { failed: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}` }
    this.#budget.cost -= cost
    const text = typeof value === 'string' ? trimSpace(value) : ''
    return text === '' || text.includes('\n') || utf8Length(text) > maxMessage ? plain : { text }
  }
}

/** The expression library of the stock server unwraps an optional variable, so that objects and lists in it have no schema. */
function optionalOf(adapted: Value | undefined, raw: JsonValue | undefined): Optional {
  if (adapted === undefined) return optionalNone
  return new Optional(typeof raw === 'object' ? fromJson(raw) : adapted)
}

function ruleText({ rule, message = '' }: Rule): string {
  return trimSpace(message === '' ? rule : message)
}

function errorFor({ reason }: Rule, place: Path | undefined, { value, detail }: { value: string; detail: string }): FieldError {
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
