import type { JsonValue } from '@krmkit/meta'
import { ownMember } from '../typed/types.ts'
import { isMap } from '../value/order.ts'

/** Where a JSON pointer leads: a member of an object, or a position of a list. */
export interface Place {
  readonly container: JsonValue[] | { [key: string]: JsonValue }
  readonly key: string
  /** Of a list; the length of the list for what is to be added behind its end. */
  readonly index: number | undefined
  /** The pointer with every position counted from the start. */
  readonly pointer: string
}

/**
 * Resolves a pointer up to the container of its last step; `undefined` when there is none, and for the pointer to the
 * whole document.
 *
 * @param adding positions may be one behind the end, and `-`.
 * @see RFC 6901
 */
export function placeOf(document: JsonValue, pointer: string, adding: boolean): Place | undefined {
  if (!pointer.startsWith('/')) return undefined
  const steps = pointer.slice(1).split('/').map(unescapeStep)
  let container: JsonValue | undefined = document
  let resolved = ''
  for (let i = 0; ; i++) {
    const key = steps[i] as string
    const last = i === steps.length - 1
    if (Array.isArray(container)) {
      const index = positionOf(key, container.length, last && adding)
      if (index === undefined) return undefined
      if (last) return { container, key, index, pointer: `${resolved}/${index}` }
      resolved += `/${index}`
      container = container[index]
    } else if (isMap(container)) {
      if (last) return { container, key, index: undefined, pointer: `${resolved}/${escapeStep(key)}` }
      resolved += `/${escapeStep(key)}`
      container = ownMember(container, key)
    } else return undefined
  }
}

/** The value at a place; `undefined` when nothing is there. */
export function memberAt({ container, key, index }: Place): JsonValue | undefined {
  if (Array.isArray(container)) return index === undefined ? undefined : container[index]
  return ownMember(container, key)
}

/** Escapes a step of a pointer. */
export function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Negative positions count from the end, from behind it when adding. */
function positionOf(step: string, length: number, adding: boolean): number | undefined {
  if (step === '-') return adding ? length : undefined
  if (!/^[+-]?[0-9]{1,18}$/.test(step)) return undefined
  const size = adding ? length + 1 : length
  const position = Number(step)
  const index = position < 0 ? size + position : position
  return index >= 0 && index < size ? index : undefined
}
