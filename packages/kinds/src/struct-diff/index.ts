/** Differences of structs in messages, as kube-apiserver prints them. Loaded when a message needs one. */

import type { Work } from '@krmkit/base/work'
import type { Features } from '@krmkit/meta'
import { goTypesOf } from './go-types.ts'
import { GoValues } from './go-value.ts'
import { JsonLines } from './json-lines.ts'
import { Meter, TooCostly } from './meter.ts'
import { Report } from './report.ts'
import { printText } from './text-node.ts'
import { unifiedDiff } from './unified-diff.ts'
import { Comparison } from './value-node.ts'

/** The old and the new value, decoded. */
export interface Change {
  readonly before: unknown
  readonly after: unknown
}

/**
 * The difference of two values as kube-apiserver of the release prints it: Go syntax up to 1.33, a unified difference of JSON later. Empty
 * for values that are equal, and for those whose comparison costs too much.
 *
 * @param type Go type of the values, such as `core.PodSpec`
 */
export function* structDiff(type: string, { before, after }: Change, { release }: Features): Work<string> {
  const types = goTypesOf((version) => release.atLeast(version))
  const meter = new Meter()
  const values = new GoValues(types, meter)
  const goType = types.type(type)
  try {
    const x = yield* values.read(goType, before)
    const y = yield* values.read(goType, after)
    if (release.atLeast('1.34')) {
      const before = new JsonLines(meter)
      yield* before.add(goType, x)
      const after = new JsonLines(meter)
      yield* after.add(goType, y)
      return yield* unifiedDiff(before.lines, after.lines, meter)
    }
    const node = yield* new Comparison(meter).node(goType, x, y)
    return node.different === 0 ? '' : yield* printText(yield* new Report(meter).text(node))
  } catch (error) {
    if (error instanceof TooCostly) return ''
    throw error
  }
}
