/** Two values compared part by part. */

import { sort, type Work } from '@krmkit/base/work'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { type Edit, editScript, type Likeness } from './edit-script.ts'
import type { GoType } from './go-types.ts'
import { type GoValue, quantityOf } from './go-value.ts'
import type { Meter } from './meter.ts'

/** Marks the side of a node that has no value: an item or an entry that only the other side has. */
export const missing = Symbol('missing')

export type Side = GoValue | typeof missing

/** A part of both values. */
export interface ValueNode {
  readonly type: GoType
  readonly x: Side
  readonly y: Side
  /** Numbers of equal and different parts without parts. */
  same: number
  different: number
  /** Number of parts compared by a method. */
  compared: number
  /** Number of parts at any depth, and the depth of the deepest. */
  children: number
  depth: number
  /** Fields, items or entries. */
  readonly records: ValueRecord[]
  /** What a pointer points to. */
  target: ValueNode | undefined
}

export interface ValueRecord {
  /** Name of a field or key of an entry; empty for an item. */
  readonly key: string
  readonly node: ValueNode
}

/** Compares values of one type. */
export class Comparison {
  readonly #meter: Meter

  constructor(meter: Meter) {
    this.#meter = meter
  }

  *node(type: GoType, x: Side, y: Side): Work<ValueNode> {
    if (this.#meter.isDue()) yield
    const node: ValueNode = {
      type,
      x,
      y,
      same: 0,
      different: 0,
      compared: 0,
      children: 0,
      depth: 0,
      records: [],
      target: undefined,
    }
    const isSame = sameAtOnce(type, x, y)
    if (isSame !== undefined) {
      if (isSame) node.same = 1
      else node.different = 1
      if (hasMethod(type) && x !== missing && y !== missing) node.compared = 1
      return node
    }
    switch (type.kind) {
      case 'pointer':
        node.target = yield* this.node(type.element, x, y)
        addCounts(node, node.target)
        break
      case 'slice':
        yield* this.#addItems(node)
        break
      case 'map':
        for (const key of yield* this.#keys(x, y)) yield* this.#add(node, key, type.element, entryOf(x, key), entryOf(y, key))
        break
      default:
        for (const [i, field] of type.fields.entries())
          yield* this.#add(node, field.name, field.type, (x as readonly GoValue[])[i], (y as readonly GoValue[])[i])
    }
    return node
  }

  *#add(parent: ValueNode, key: string, type: GoType, x: Side, y: Side): Work {
    const node = yield* this.node(type, x, y)
    parent.records.push({ key, node })
    addCounts(parent, node)
  }

  *#addItems(node: ValueNode): Work {
    const { element } = node.type
    const x = node.x as readonly GoValue[]
    const y = node.y as readonly GoValue[]
    const edits: Edit[] = yield* editScript(x.length, y.length, (i, j) => this.#likeness(element, x[i], y[j]), this.#meter)
    let [ix, iy] = [0, 0]
    for (const edit of edits) {
      const left = edit === 'inserted' ? missing : x[ix++]
      const right = edit === 'removed' ? missing : y[iy++]
      yield* this.#add(node, '', element, left, right)
    }
  }

  *#keys(x: Side, y: Side): Work<string[]> {
    const keys = new Set([...(x as ReadonlyMap<string, GoValue>).keys(), ...(y as ReadonlyMap<string, GoValue>).keys()])
    return yield* sort([...keys], compareCodePoints)
  }

  /** The counts of a node, without the node. */
  *#likeness(type: GoType, x: Side, y: Side): Work<Likeness> {
    const { same, different } = yield* this.node(type, x, y)
    return { same, different }
  }
}

function hasMethod({ kind }: GoType): boolean {
  return kind === 'quantity' || kind === 'instant'
}

/** Whether two values are equal, if they have no parts to compare. */
function sameAtOnce(type: GoType, x: Side, y: Side): boolean | undefined {
  if (x === missing || y === missing) return false
  switch (type.kind) {
    case 'struct':
      return undefined
    case 'quantity':
      return quantityOf(x).equals(quantityOf(y))
    case 'pointer':
    case 'slice':
    case 'map':
      return x === undefined || y === undefined ? x === y : undefined
    case 'int':
      return x === y || String(x) === String(y)
    default:
      return x === y
  }
}

function entryOf(map: Side, key: string): Side {
  const entries = map as ReadonlyMap<string, GoValue>
  return entries.has(key) ? entries.get(key) : missing
}

function addCounts(parent: ValueNode, { same, different, compared, children, depth }: ValueNode): void {
  parent.same += same
  parent.different += different
  parent.compared += compared
  parent.children += children + 1
  parent.depth = Math.max(parent.depth, depth + 1)
}
