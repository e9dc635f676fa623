import {
  isDyn,
  isDynOrError,
  type OpaqueType,
  type ParamType,
  parametersOf,
  sameType,
  type Type,
  withParameters,
} from './types.ts'

/**
 * Which types type parameters stand for. Finding out goes forward step by step and is taken back where it does not lead to a
 * match.
 */
export class Substitutions {
  readonly #found = new Map<string, Type>()
  /** What was there before each change. */
  readonly #trail: (readonly [string, Type | undefined])[] = []
  #fresh = 0

  freshParam(): ParamType {
    return { kind: 'param', name: `_var${this.#fresh++}` }
  }

  /** Whether a value of type `from` goes where `to` is asked for; what has to be assumed for that holds from then on. */
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

  /** The type with what is known put in; `toDyn`: what is unknown is dynamic. */
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

  /** Whether the parameter may stand for the type, and whether it stands for something already. */
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
  return ['null', 'duration', 'timestamp', 'struct', 'opaque'].includes(type.kind)
}

/** The type that says less. */
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
