import {
  isDyn,
  isDynOrError,
  type OpaqueType,
  type ParamType,
  parametersOf,
  sameType,
  type Type,
  withParameters,
} from '../values/types.ts'

/** Bindings of type parameters during checking. Assignments that fail are rolled back. */
export class Substitutions {
  readonly #found = new Map<string, Type>()
  /** Previous binding before each change, for rollback. */
  readonly #trail: (readonly [string, Type | undefined])[] = []
  #fresh = 0

  freshParam(): ParamType {
    return { kind: 'param', name: `_var${this.#fresh++}` }
  }

  /** Whether a value of type `from` is assignable to `to`. On success the required bindings are kept. */
  assign(to: Type, from: Type): boolean {
    return this.assignAll([to], [from])
  }

  assignAll(to: readonly Type[], from: readonly Type[]): boolean {
    const mark = this.#trail.length
    if (this.#fitAll(to, from)) return true
    while (this.#trail.length > mark) {
      const [name, before] = this.#trail.pop() as readonly [string, Type | undefined]
      if (before === undefined) this.#found.delete(name)
      else this.#found.set(name, before)
    }
    return false
  }

  /** Substitutes bound parameters; with `toDyn`, unbound parameters become dynamic. */
  resolve(type: Type, toDyn: boolean): Type {
    if (type.kind === 'param') {
      const found = this.#found.get(type.name)
      if (found !== undefined) return this.resolve(found, toDyn)
      return toDyn ? { kind: 'dyn' } : type
    }
    const params = parametersOf(type)
    if (params.length === 0) return type
    const resolved = params.map((each) => this.resolve(each, toDyn))
    return resolved.every((each, index) => each === params[index]) ? type : withParameters(type, resolved)
  }

  #set(name: string, type: Type): void {
    this.#trail.push([name, this.#found.get(name)])
    this.#found.set(name, type)
  }

  #fitAll(a: readonly Type[], b: readonly Type[]): boolean {
    return a.length === b.length && a.every((type, index) => this.#fit(type, b[index] as Type))
  }

  #fit(a: Type, b: Type): boolean {
    if (b.kind === 'param') {
      const { fits, bound } = this.#stands(a, b)
      if (fits) return true
      if (bound) return false
    }
    if (a.kind === 'param') return this.#stands(b, a).fits
    if (isDynOrError(a) || isDynOrError(b)) return true
    if (a.kind === 'null') return takesNull(b)
    if (b.kind === 'null') return takesNull(a)
    switch (a.kind) {
      case 'list':
      case 'map':
        return a.kind === b.kind && this.#fitAll(parametersOf(a), parametersOf(b))
      case 'opaque':
        return b.kind === 'opaque' && a.name === b.name && this.#fitAll(a.params, b.params)
      case 'type':
        return b.kind === 'type'
      default:
        return sameType(a, b)
    }
  }

  /** Returns whether the parameter can be bound to the type, and whether it is already bound. */
  #stands(type: Type, param: ParamType): { fits: boolean; bound: boolean } {
    if (type.kind === 'param' && type.name === param.name) return { fits: true, bound: true }
    const found = this.#found.get(param.name)
    if (found !== undefined) {
      if (sameType(type, found)) return { fits: true, bound: true }
      if (!this.#fit(type, found)) return { fits: false, bound: true }
      const general = mostGeneral(type, found)
      if (!this.#mentions(general, param.name)) this.#set(param.name, general)
      return { fits: true, bound: true }
    }
    if (this.#mentions(type, param.name)) return { fits: false, bound: false }
    this.#set(param.name, type)
    return { fits: true, bound: false }
  }

  #mentions(type: Type, name: string): boolean {
    if (type.kind !== 'param') return parametersOf(type).some((each) => this.#mentions(each, name))
    if (type.name === name) return true
    const found = this.#found.get(type.name)
    return found !== undefined && this.#mentions(found, name)
  }
}

function takesNull(type: Type): boolean {
  return 'nullable' in type || ['null', 'duration', 'timestamp', 'struct', 'opaque'].includes(type.kind)
}

/** The more general of two types. */
export function mostGeneral(a: Type, b: Type): Type {
  return isAsGeneral(a, b) ? a : b
}

function isAsGeneral(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === 'param') return true
  if (isDyn(b) || b.kind === 'param' || a.kind !== b.kind) return false
  if (a.kind === 'type') return true
  if (a.kind === 'opaque' && a.name !== (b as OpaqueType).name) return false
  const left = parametersOf(a)
  const right = parametersOf(b)
  if (left.length === 0) return sameType(a, b)
  return left.length === right.length && left.every((type, index) => isAsGeneral(type, right[index] as Type))
}
