import { wellKnownName } from '../libraries/messages.ts'
import {
  type Call,
  type Expr,
  type Fold,
  type ListExpr,
  type MapExpr,
  type MessageExpr,
  qualifiedName,
  type Select,
} from '../syntax/ast.ts'
import { keywordName } from '../syntax/escape.ts'
import type { Problem } from '../syntax/source.ts'
import type { FunctionDeclaration, MessageDeclaration, Overload } from '../values/declarations.ts'
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  formatSignature,
  formatType,
  intType,
  isDyn,
  isDynOrError,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  parametersOf,
  sameType,
  stringType,
  type Type,
  uintType,
  unwrapOptional,
} from '../values/types.ts'
import { Double, isInt, TypeValue, Uint, type Value } from '../values/values.ts'
import { mostGeneral, Substitutions } from './substitutions.ts'

/** Declarations that an expression may use. */
export interface Scope {
  readonly variables: ReadonlyMap<string, Type>
  readonly functions: ReadonlyMap<string, FunctionDeclaration>
  /** Named types. */
  readonly types: ReadonlyMap<string, Type>
  /** Types of message literals. */
  readonly messages: (name: string) => MessageDeclaration | undefined
  /** Whether member names that are keywords need no escaping. */
  readonly keywordMembers: boolean
}

/**
 * Stores types and functions in the tree.
 *
 * @returns the type errors
 */
export function check(expr: Expr, scope: Scope): readonly Problem[] {
  const checker = new Checker(scope)
  checker.check(expr)
  checker.finish()
  return checker.problems
}

class Checker {
  readonly problems: Problem[] = []
  readonly #scope: Scope
  readonly #known = new Substitutions()
  readonly #locals: Map<string, Type>[] = []
  readonly #visited: Expr[] = []

  constructor(scope: Scope) {
    this.#scope = scope
  }

  check(expr: Expr): Type {
    const type = this.#typeOf(expr)
    expr.type = type
    this.#visited.push(expr)
    return type
  }

  /** Resolves remaining type parameters to dynamic. */
  finish(): void {
    for (const expr of this.#visited) expr.type = this.#known.resolve(expr.type as Type, true)
  }

  #typeOf(expr: Expr): Type {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value)
      case 'ident': {
        const found = this.#find(expr.name)
        if (found === undefined) return this.#undeclared(expr.at, expr.name)
        if (found.constant !== undefined) expr.constant = found.constant
        return found.type
      }
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'message':
        return this.#message(expr)
      case 'fold':
        return this.#fold(expr)
    }
  }

  #find(name: string): { type: Type; constant?: Value } | undefined {
    const plain = name.startsWith('.') ? name.slice(1) : name
    if (plain === name) {
      for (let i = this.#locals.length - 1; i >= 0; i--) {
        const local = (this.#locals[i] as Map<string, Type>).get(name)
        if (local !== undefined) return { type: local }
      }
    }
    const variable = this.#scope.variables.get(plain)
    if (variable !== undefined) return { type: variable }
    const named = this.#scope.types.get(plain)
    return named === undefined ? wellKnownName(plain) : { type: { kind: 'type', of: named }, constant: new TypeValue(plain) }
  }

  #undeclared(at: number, name: string): Type {
    this.#report(at, `undeclared reference to '${name.replace(/^\./, '')}' (in container '')`)
    return errorType
  }

  #report(at: number, message: string): void {
    this.problems.push({ at, message })
  }

  #select(expr: Select): Type {
    const name = qualifiedName(expr)
    const whole = name === undefined ? undefined : this.#find(name)
    if (whole !== undefined) {
      expr.resolved = { kind: 'ident', at: expr.at, name: name as string, type: whole.type }
      if (whole.constant !== undefined) expr.resolved.constant = whole.constant
      return whole.type
    }
    const type = this.#member(expr.at, this.check(expr.operand), expr.field, false)
    return expr.test ? boolType : this.#known.resolve(type, false)
  }

  /** Type of `operand.field`. */
  #member(at: number, operand: Type, field: string, optional: boolean): Type {
    const type = this.#known.resolve(operand, false)
    const inner = unwrapOptional(type)
    const target = inner ?? type
    let result: Type = dynType
    if (target.kind === 'map') result = target.value
    else if (target.kind === 'struct') {
      const found = target.fields.get(field) ?? this.#keywordMember(target.fields, field)
      if (found === undefined) this.#report(at, `undefined field '${field}'`)
      result = found ?? errorType
    } else if (target.kind === 'param') this.#known.assign(dynType, target)
    else if (!isDynOrError(target)) this.#report(at, `type '${formatType(target)}' does not support field selection`)
    return inner !== undefined || optional ? optionalOf(result) : result
  }

  #keywordMember(fields: ReadonlyMap<string, Type>, field: string): Type | undefined {
    const name = this.#scope.keywordMembers ? keywordName(field) : undefined
    return name === undefined ? undefined : fields.get(name)
  }

  #message(expr: MessageExpr): Type {
    const message = this.#scope.messages(expr.name.replace(/^\./, ''))
    if (message === undefined) return this.#undeclared(expr.at, expr.name)
    expr.declared = message
    for (const { name, at, value, optional } of expr.fields) {
      const found = this.check(value)
      const given = optional ? this.#unwrap(value, found) : found
      const declared = message.fields.get(name)
      if (declared === undefined) this.#report(at, `undefined field '${name}'`)
      else if (!this.#known.assign(declared, given)) {
        const shown = formatType(this.#known.resolve(given, false))
        this.#report(at, `expected type of field '${name}' is '${formatType(declared)}' but provided type is '${shown}'`)
      }
    }
    return message.type
  }

  #call(expr: Call): Type {
    if (expr.name === '_?._') return this.#optionalSelect(expr)
    for (const arg of expr.args) this.check(arg)
    if (expr.target === undefined) {
      const name = expr.name.startsWith('.') ? expr.name.slice(1) : expr.name
      const found = this.#scope.functions.get(name)
      if (found === undefined) return this.#undeclared(expr.at, name)
      expr.name = name
      return this.#resolve(expr, found)
    }
    const prefix = qualifiedName(expr.target)
    const namespaced = prefix === undefined ? undefined : this.#scope.functions.get(`${prefix.replace(/^\./, '')}.${expr.name}`)
    if (namespaced !== undefined) {
      expr.target = undefined
      expr.name = namespaced.name
      return this.#resolve(expr, namespaced)
    }
    this.check(expr.target)
    const found = this.#scope.functions.get(expr.name)
    return found === undefined ? this.#undeclared(expr.at, expr.name) : this.#resolve(expr, found)
  }

  #optionalSelect(expr: Call): Type {
    const [operand, field] = expr.args as [Expr, Expr]
    const name = field.kind === 'literal' && typeof field.value === 'string' ? field.value : ''
    const type = this.#member(expr.at, this.check(operand), name, true)
    expr.overloads = this.#scope.functions.get(expr.name)?.overloads ?? []
    return this.#known.resolve(type, false)
  }

  /** Finds all overloads that accept the arguments. */
  #resolve(expr: Call, declared: FunctionDeclaration): Type {
    const operands = expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    const types = operands.map((operand) => operand.type as Type)
    if (declared.name === '_&&_' || declared.name === '_||_') return this.#logical(expr, declared, types)
    const fitting: Overload[] = []
    let result: Type | undefined
    for (const candidate of declared.overloads) {
      if (candidate.member !== (expr.target !== undefined) || candidate.args.length !== types.length) continue
      const { args, result: returns } = this.#instance(candidate)
      if (!this.#known.assignAll(types, args)) continue
      fitting.push(candidate)
      const returned = this.#known.resolve(returns, false)
      if (result === undefined) result = returned
      else if (!isDyn(result) && !sameType(returned, result)) result = dynType
    }
    if (result === undefined) {
      const shown = types.map((type) => this.#known.resolve(type, true))
      const signature = formatSignature(shown, expr.target !== undefined)
      this.#report(expr.at, `found no matching overload for '${declared.name}' applied to '${signature}'`)
      return errorType
    }
    expr.overloads = fitting
    return result
  }

  /** The overload with fresh type parameters. */
  #instance(candidate: Overload): { args: readonly Type[]; result: Type } {
    if (candidate.params.length === 0) return candidate
    const fresh = new Map(candidate.params.map((name) => [name, this.#known.freshParam()]))
    const rename = (type: Type): Type => {
      if (type.kind === 'param') return fresh.get(type.name) ?? type
      const params = parametersOf(type)
      if (params.length === 0) return type
      const renamed = params.map(rename)
      if (type.kind === 'list') return listOf(renamed[0] as Type)
      if (type.kind === 'map') return mapOf(renamed[0] as Type, renamed[1] as Type)
      return type.kind === 'opaque' ? { ...type, params: renamed } : { kind: 'type', of: renamed[0] as Type }
    }
    return { args: candidate.args.map(rename), result: rename(candidate.result) }
  }

  #logical(expr: Call, declared: FunctionDeclaration, types: readonly Type[]): Type {
    let failed = false
    for (const [index, type] of types.entries()) {
      if (this.#known.assign(type, boolType)) continue
      this.#mismatch((expr.args[index] as Expr).at, boolType, type)
      failed = true
    }
    if (failed) return errorType
    expr.overloads = declared.overloads
    return boolType
  }

  #mismatch(at: number, expected: Type, found: Type): void {
    const shown = (type: Type) => formatType(this.#known.resolve(type, false))
    this.#report(at, `expected type '${shown(expected)}' but found '${shown(found)}'`)
  }

  /** Type inside an optional, for `?value`. */
  #unwrap(expr: Expr, type: Type): Type {
    const inner = unwrapOptional(type)
    if (inner === undefined && !isDyn(type)) this.#mismatch(expr.at, optionalOf(type), type)
    return inner ?? type
  }

  #list(expr: ListExpr): Type {
    let elem: Type | undefined
    for (const [index, item] of expr.items.entries()) {
      const type = this.check(item)
      elem = this.#join(elem, expr.optional.has(index) ? this.#unwrap(item, type) : type)
    }
    return listOf(elem ?? this.#known.freshParam())
  }

  #map(expr: MapExpr): Type {
    let keys: Type | undefined
    let values: Type | undefined
    for (const { key, value, optional } of expr.entries) {
      keys = this.#join(keys, this.check(key))
      const type = this.check(value)
      values = this.#join(values, optional ? this.#unwrap(value, type) : type)
    }
    return mapOf(keys ?? this.#known.freshParam(), values ?? this.#known.freshParam())
  }

  /** Mixed types join to dynamic; `validateLiterals` checks literals later. */
  #join(previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current
    return this.#known.assign(previous, current) ? mostGeneral(previous, current) : dynType
  }

  #fold(expr: Fold): Type {
    const range = this.#known.resolve(this.check(expr.range), false)
    const held = this.check(expr.init)
    this.#locals.push(new Map([[expr.accumulator, held]]))
    const { item, second } = this.#loopTypes(expr, range)
    const inner = new Map([[expr.item, item]])
    if (expr.second !== undefined) inner.set(expr.second, second)
    this.#locals.push(inner)
    this.#assert(expr.condition, this.check(expr.condition), boolType)
    this.#assert(expr.step, this.check(expr.step), held)
    this.#locals.pop()
    const result = this.check(expr.result)
    this.#locals.pop()
    return this.#known.resolve(result, false)
  }

  #loopTypes(expr: Fold, range: Type): { item: Type; second: Type } {
    if (range.kind === 'list') {
      return expr.second === undefined ? { item: range.elem, second: range.elem } : { item: intType, second: range.elem }
    }
    if (range.kind === 'map') return { item: range.key, second: range.value }
    if (range.kind === 'dyn' || range.kind === 'error' || range.kind === 'param') {
      this.#known.assign(dynType, range)
      return { item: dynType, second: dynType }
    }
    const message = `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`
    this.#report(expr.range.at, message)
    return { item: errorType, second: errorType }
  }

  #assert(expr: Expr, found: Type, expected: Type): void {
    if (!this.#known.assign(expected, found)) this.#mismatch(expr.at, expected, found)
  }
}

function literalType(value: Value): Type {
  if (typeof value === 'string') return stringType
  if (typeof value === 'boolean') return boolType
  if (isInt(value)) return intType
  if (value === null) return nullType
  if (value instanceof Double) return doubleType
  return value instanceof Uint ? uintType : bytesType
}
