import { compilePattern } from '../structural/pattern.ts'
import type { Expr } from './ast.ts'
import { readDuration, readTimestamp } from './functions/conversions.ts'
import type { Problem } from './source.ts'
import { Fault } from './values.ts'

/** Durations, times and regular expressions that are written out must be such. */
export function literalProblems(expr: Expr): Problem[] {
  const problems: Problem[] = []
  visit(expr, problems)
  return problems
}

const readable: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => !(readDuration(text) instanceof Fault),
  timestamp: (text) => !(readTimestamp(text) instanceof Fault),
  matches: (text) => !('problem' in compilePattern(text)),
}

function visit(expr: Expr, problems: Problem[]): void {
  switch (expr.kind) {
    case 'select':
      visit(expr.operand, problems)
      break
    case 'call': {
      if (expr.target !== undefined) visit(expr.target, problems)
      for (const arg of expr.args) visit(arg, problems)
      const test = Object.hasOwn(readable, expr.name) ? readable[expr.name] : undefined
      const last = expr.args.at(-1)
      if (test !== undefined && last?.kind === 'literal' && typeof last.value === 'string' && !test(last.value))
        problems.push({ at: last.at, message: `invalid ${expr.name} argument` })
      break
    }
    case 'list':
      for (const item of expr.items) visit(item, problems)
      break
    case 'map':
      for (const { key, value } of expr.entries) {
        visit(key, problems)
        visit(value, problems)
      }
      break
    case 'fold':
      for (const part of [expr.range, expr.init, expr.condition, expr.step, expr.result]) visit(part, problems)
      break
  }
}
