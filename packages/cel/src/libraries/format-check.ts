import { runAtOnce } from '@krmkit/base/work'
import type { Call, Expr, ListExpr } from '../syntax/ast.ts'
import type { Problem } from '../syntax/source.ts'
import { dynType, isDyn, type Type, typeName } from '../values/types.ts'
import { applyClauses, unsuitableArgument, type Verb } from './format-clauses.ts'

const texts: readonly Type['kind'][] = [
  'list',
  'map',
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'timestamp',
  'bytes',
  'duration',
  'type',
  'null',
]
const wholes: readonly Type['kind'][] = ['int', 'uint']
/** Some doubles are represented by strings: `NaN`. */
const doubles: readonly Type['kind'][] = ['double', 'string']

const suitable: Readonly<Record<Verb, readonly Type['kind'][]>> = {
  s: texts,
  d: wholes,
  f: doubles,
  e: doubles,
  b: [...wholes, 'bool'],
  o: wholes,
  x: [...wholes, 'string', 'bytes'],
  X: [...wholes, 'string', 'bytes'],
}

/** Checks a call of `format` whose format string and arguments are literals. */
export function validateFormatCall(call: Call): Problem | undefined {
  const [args] = call.args
  if (call.name !== 'format' || call.target?.kind !== 'literal' || args?.kind !== 'list' || call.args.length !== 1)
    return undefined
  const { value: format } = call.target
  return typeof format === 'string' ? checkFormat(format, args, call.at) : undefined
}

function checkFormat(format: string, { items }: ListExpr, at: number): Problem | undefined {
  const steps = applyClauses<Problem>(format, items.length, ({ verb }, index) => {
    const wrong = unsuitableIn(items[index] as Expr, verb)
    if (wrong === undefined) return { text: '' }
    return { problem: { at: wrong.at, message: unsuitableArgument(verb, typeName(wrong.type ?? dynType)) } }
  })
  const checked = runAtOnce(steps)
  if ('problem' in checked) return typeof checked.problem === 'string' ? { at, message: checked.problem } : checked.problem
  if (items.length <= checked.count) return undefined
  const message = `too many arguments supplied to string.format (expected ${checked.count}, got ${items.length})`
  return { at, message }
}

/**
 * Returns the part of an argument with an unsuitable type; for `%s`, the elements of literal lists and maps are checked,
 * too.
 */
function unsuitableIn(expr: Expr, verb: Verb): Expr | undefined {
  const type = expr.type ?? dynType
  if (!isDyn(type) && !suitable[verb].includes(type.kind)) return expr
  if (verb !== 's') return undefined
  const parts =
    expr.kind === 'list' ? expr.items : expr.kind === 'map' ? expr.entries.flatMap(({ key, value }) => [key, value]) : []
  for (const part of parts) {
    const wrong = unsuitableIn(part, verb)
    if (wrong !== undefined) return wrong
  }
  return undefined
}
