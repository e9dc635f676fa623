import type { Call, Expr, Fold, ListExpr } from '../syntax/ast.ts'
import type { Entry } from '../values/pauses.ts'
import {
  ArrayList,
  ErrorValue,
  goTypeOf,
  ListValue,
  LiteralMap,
  MapValue,
  mapKey,
  typeNameOf,
  type Value,
} from '../values/values.ts'
import { noOverload } from './refusals.ts'
import { type Constant, constantOf, type Frame, type PlanContext, pausable, type Step } from './step.ts'

/**
 * Plans comprehensions. A comprehension that builds a list or map appends to a private collection, so that its time is
 * linear in the number of items.
 */

export function planFold(planner: PlanContext, fold: Fold): Step {
  if (isBinding(fold)) return planBinding(planner, fold)
  const range = planner.plan(fold.range)
  const init = planner.plan(fold.init)
  return planner.local(fold.accumulator, (accumulator) => {
    const inner = planner.local(fold.item, (item) => {
      const parts = (second: number | undefined): Loop => {
        const collected = collector(planner, fold)
        const condition = planner.plan(fold.condition)
        return {
          accumulator,
          item,
          second,
          condition,
          step: collected ?? plainStep(planner.plan(fold.step), accumulator),
          collects: collected !== undefined,
        }
      }
      return fold.second === undefined ? parts(undefined) : planner.local(fold.second, parts)
    })
    const result = planner.plan(fold.result)
    const plan: Plan = { range, init, result, loop: inner }
    return pausable((frame, entry) => run(frame, plan, entry))
  })
}

/** Whether the comprehension only binds a value to a name, as `cel.bind` does. */
function isBinding({ range, condition, item }: Fold): boolean {
  return item === '#unused' && range.kind === 'list' && range.items.length === 0 && condition.kind === 'literal'
}

/** Plans a binding; its value is computed on first use. */
function planBinding(planner: PlanContext, fold: Fold): Step {
  const inside = (slot: number): Step => {
    const result = planner.plan(fold.result)
    return pausable((frame, entry) => {
      const before = frame.slots[slot]
      // After a pause, a value that was already used is taken from its entry.
      if (entry?.range === undefined) {
        frame.slots[slot] = undefined
        if (entry !== undefined) frame.progress?.begin(frame, entry, null)
      }
      const outcome = result(frame)
      frame.slots[slot] = before
      return outcome
    })
  }
  return planner.local(fold.accumulator, inside, planner.plan(fold.init))
}

interface Loop {
  readonly accumulator: number
  readonly item: number
  readonly second: number | undefined
  readonly condition: Step
  /**
   * Runs once per item. An error stays in the accumulator; as in kube-apiserver, the remaining items are still evaluated and
   * charged.
   */
  readonly step: (frame: Frame) => void
  readonly collects: boolean
}

interface Plan {
  readonly range: Step
  readonly init: Step
  readonly result: Step
  readonly loop: Loop
}

/** @param entry progress of the loop; absent when the evaluation cannot pause. */
function run(frame: Frame, { range, init, result, loop }: Plan, entry: Entry | undefined): Value {
  const { slots } = frame
  const { accumulator } = loop
  // Restored afterwards, because nested comprehensions may use the same slot.
  const before = slots[accumulator]
  const over = entry?.range ?? range(frame)
  if (over instanceof ErrorValue) return over
  if (!(over instanceof ListValue || over instanceof MapValue)) return noRange(over, loop)
  if (entry?.range === undefined) {
    const start = init(frame)
    slots[accumulator] = loop.collects ? collection(start) : start
    if (entry !== undefined) frame.progress?.begin(frame, entry, over)
  }
  if (over instanceof ListValue) overList(frame, over, loop, entry)
  else overMap(frame, over, loop, entry)
  const outcome = result(frame)
  slots[accumulator] = before
  return outcome
}

function noRange(value: Value, { second }: Loop): ErrorValue {
  const type = goTypeOf(value)
  if (second !== undefined) return new ErrorValue(`unsupported comprehension range type: ${type}`)
  return new ErrorValue(`got '${type}', expected iterable type`)
}

function overList(frame: Frame, list: ListValue, { item, second, condition, step }: Loop, entry: Entry | undefined): void {
  const { slots, progress } = frame
  for (let i = entry?.done ?? 0; i < list.size; i++) {
    if (second === undefined) slots[item] = list.at(i)
    else {
      slots[item] = i
      slots[second] = list.at(i)
    }
    if (condition(frame) !== true) return
    step(frame)
    if (entry !== undefined) {
      entry.done++
      progress?.advance(frame, entry)
    }
  }
}

function overMap(frame: Frame, map: MapValue, { item, second, condition, step }: Loop, entry: Entry | undefined): void {
  const { slots, progress } = frame
  const keys = entry?.keys ?? [...map.keys()]
  if (entry !== undefined) entry.keys = keys
  for (let i = entry?.done ?? 0; i < keys.length; i++) {
    const key = keys[i] as Value
    slots[item] = key
    if (second !== undefined) slots[second] = map.get(key) ?? null
    if (condition(frame) !== true) return
    step(frame)
    if (entry !== undefined) {
      entry.done++
      progress?.advance(frame, entry)
    }
  }
}

function plainStep(step: Step, accumulator: number): Loop['step'] {
  return (frame) => {
    frame.slots[accumulator] = step(frame)
  }
}

class Collected extends ArrayList {
  readonly added: Value[]
  constructor(added: Value[]) {
    super(added)
    this.added = added
  }
}

class CollectedMap extends LiteralMap {
  readonly added: Map<unknown, readonly [Value, Value]>
  constructor(added: Map<unknown, readonly [Value, Value]>) {
    super(added)
    this.added = added
  }
}

function collection(start: Value): Value {
  return start instanceof MapValue ? new CollectedMap(new Map()) : new Collected([])
}

/** Returns the step of a comprehension that only appends to a collection; `undefined` for others. */
function collector(planner: PlanContext, { accumulator, init, step }: Fold): Loop['step'] | undefined {
  const isAccumulator = (expr: Expr | undefined) => expr?.kind === 'ident' && expr.name === accumulator
  const empty = (init.kind === 'list' && init.items.length === 0) || (init.kind === 'map' && init.entries.length === 0)
  if (!empty) return undefined
  const isFiltered = step.kind === 'call' && step.name === '_?_:_' && isAccumulator(step.args[2])
  const adding = isFiltered ? step.args[1] : step
  if (adding?.kind !== 'call' || !isAccumulator(adding.args[0])) return undefined
  const filter = isFiltered ? planner.plan(step.args[0] as Expr) : undefined
  const add =
    adding.name === '_+_' ? addItem(planner, adding) : adding.name === 'cel.@mapInsert' ? addEntries(planner, adding) : undefined
  if (add === undefined) return undefined
  if (filter === undefined) return add
  const slot = planner.slotOf(accumulator)
  // As in kube-apiserver, the last error of the filter is the result of the comprehension.
  return (frame) => {
    const held = filter(frame)
    if (held === true) add(frame)
    else if (held !== false) frame.slots[slot] = held instanceof ErrorValue ? held : noOverload
  }
}

/** Cost of `accumulator + [item]`: variable, list and addition. */
const addItemCost = 12
const addEntryCost = 2

function addItem(planner: PlanContext, { args }: Call): Loop['step'] | undefined {
  const [, added] = args as [Expr, ListExpr]
  if (added.kind !== 'list' || added.items.length !== 1 || added.optional.size > 0) return undefined
  const item = planner.plan(added.items[0] as Expr)
  const slot = planner.slotOf((args[0] as Expr & { name: string }).name)
  const cost = constantOf(item as Constant) === undefined ? addItemCost : 2
  return (frame) => {
    const value = item(frame)
    const list = frame.slots[slot]
    const fails = value instanceof ErrorValue || list instanceof ErrorValue
    frame.charge(fails ? addItemCost : cost)
    if (!fails) (list as Collected).added.push(value)
    else if (!(list instanceof ErrorValue)) frame.slots[slot] = value
  }
}

function addEntries(planner: PlanContext, { args }: Call): Loop['step'] {
  const [first, second] = args.slice(1).map((arg) => planner.plan(arg)) as [Step, Step | undefined]
  const slot = planner.slotOf((args[0] as Expr & { name: string }).name)
  return (frame) => {
    const map = frame.slots[slot]
    if (map instanceof ErrorValue) return frame.charge(1)
    const error = addEntry(frame, first, second, (map as CollectedMap).added)
    if (error !== undefined) frame.slots[slot] = error
  }
}

function addEntry(frame: Frame, first: Step, second: Step | undefined, added: CollectedMap['added']): ErrorValue | undefined {
  const key = first(frame)
  const value = key instanceof ErrorValue ? key : second?.(frame)
  frame.charge(value instanceof ErrorValue ? 1 : addEntryCost)
  if (value instanceof ErrorValue) return value
  if (value !== undefined) return insert(added, key, value)
  if (!(key instanceof MapValue)) return noOverload
  for (const each of key.keys()) {
    frame.charge(1)
    const error = insert(added, each, key.get(each) ?? null)
    if (error !== undefined) return error
  }
  return undefined
}

function insert(map: Map<unknown, readonly [Value, Value]>, key: Value, value: Value): ErrorValue | undefined {
  const id = mapKey(key)
  if (map.has(id))
    return new ErrorValue(`insert failed: key ${key instanceof MapValue ? typeNameOf(key) : String(key)} already exists`)
  map.set(id, [key, value])
  return undefined
}
