import { readDuration, readTimestamp, secondsToTimestamp } from '../functions/conversions.ts'
import { validateFormatCall } from '../libraries/format-check.ts'
import { compilePattern } from '../pattern/pattern.ts'
import { type Call, childrenOf, type Expr, type ListExpr, type MapExpr } from '../syntax/ast.ts'
import type { Problem } from '../syntax/source.ts'
import { dynType, formatType, sameType, type Type, unwrapOptional } from '../values/types.ts'
import { ErrorValue, isInt, type Value } from '../values/values.ts'

/**
 * Validates literals beyond type checking: durations, timestamps, regular expressions and format strings must be valid,
 * lists and maps homogeneous.
 */
export function validateLiterals(expr: Expr): Problem[] {
  const problems: Problem[] = []
  visit(expr, problems, false)
  return problems
}

/** @param formatted whether the expression is inside a `format` call, whose arguments may have mixed types. */
function visit(expr: Expr, problems: Problem[], formatted: boolean): void {
  const isFormat = expr.kind === 'call' && expr.name === 'format'
  for (const child of childrenOf(expr)) visit(child, problems, formatted || isFormat)
  if (expr.kind === 'call') checkCall(expr, problems)
  else if (formatted) return
  else if (expr.kind === 'list') checkList(expr, problems)
  else if (expr.kind === 'map') checkMap(expr, problems)
}

const readable: Readonly<Record<string, (value: Value) => boolean>> = {
  duration: (value) => {
    if (isInt(value) || value === null) return false
    return typeof value !== 'string' || !(readDuration(value) instanceof ErrorValue)
  },
  timestamp: (value) => {
    if (value === null) return false
    if (isInt(value)) return !(secondsToTimestamp(value) instanceof ErrorValue)
    return typeof value !== 'string' || !(readTimestamp(value) instanceof ErrorValue)
  },
  matches: (value) => typeof value !== 'string' || !('problem' in compilePattern(value)),
}

function checkCall(call: Call, problems: Problem[]): void {
  const test = Object.hasOwn(readable, call.name) ? readable[call.name] : undefined
  // As in kube-apiserver, this includes the function form `matches(text, pattern)`.
  const [first] = call.args
  if (test !== undefined && first?.kind === 'literal' && !test(first.value))
    problems.push({ at: first.at, message: `invalid ${call.name} argument` })
  const problem = validateFormatCall(call)
  if (problem !== undefined) problems.push(problem)
}

function checkList({ items, optional }: ListExpr, problems: Problem[]): void {
  const typed = items.map((item, index) => ({ item, type: held(item, optional.has(index)) }))
  const [first] = typed
  const other = typed.find(({ type }) => !sameType((first as { type: Type }).type, type))
  if (first !== undefined && other !== undefined) problems.push(mismatch(other.item, first.type, other.type))
}

function checkMap({ entries }: MapExpr, problems: Problem[]): void {
  const [first, ...rest] = entries
  if (first === undefined) return
  const [keyType, valueType] = [held(first.key, false), held(first.value, first.optional)]
  for (const { key, value, optional } of rest) {
    const [k, v] = [held(key, false), held(value, optional)]
    if (!sameType(keyType, k)) problems.push(mismatch(key, keyType, k))
    if (!sameType(valueType, v)) problems.push(mismatch(value, valueType, v))
  }
}

function held(expr: Expr, optional: boolean): Type {
  const type = expr.type ?? dynType
  return optional ? (unwrapOptional(type) ?? type) : type
}

function mismatch({ at }: Expr, expected: Type, found: Type): Problem {
  return { at, message: `expected type '${formatType(expected)}' but found '${formatType(found)}'` }
}
