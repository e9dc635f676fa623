import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { handWrittenFiles, packageEntries, parse, textOf } from './hand-written.ts'

/** Modules stay small: files, functions, and no files that only pass other modules on. */

const maxFileLines = 400
const maxFunctionLines = 80
const minForwardingLines = 30

/** Paths that are not split or merged yet. The list only shrinks: an entry without findings fails the last test. */
const pending: readonly string[] = []

/** Functions that register tests. A group of tests is as long as its tests; each of them is measured by itself. */
const testRegistrars = new Set(['describe', 'it', 'test', 'suite'])

interface Finding {
  readonly file: string
  readonly problem: string
}

const isPending = (file: string): boolean => pending.some((path) => file === path || file.startsWith(`${path}/`))

function findingsIn(file: string, text: string, entries: ReadonlySet<string>): Finding[] {
  const problems: string[] = []
  const lines = text.replace(/\n$/, '').split('\n').length
  if (lines > maxFileLines) problems.push(`${lines} lines`)
  if (lines > maxFunctionLines || lines < minForwardingLines) {
    const source = parse(file, text)
    problems.push(...longFunctions(source))
    if (lines < minForwardingLines && !entries.has(file) && !file.endsWith('/index.ts') && onlyForwards(source)) {
      problems.push(`${lines} lines that only re-export other modules`)
    }
  }
  return problems.map((problem) => ({ file, problem }))
}

function longFunctions(source: ts.SourceFile): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (isFunctionWithBody(node)) {
      const lines = linesOf(source, node) - linesOfTests(source, node)
      if (lines > maxFunctionLines) found.push(`${nameOf(source, node)} has ${lines} lines`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function isFunctionWithBody(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined
}

function linesOf(source: ts.SourceFile, node: ts.Node): number {
  const lineOf = (offset: number) => source.getLineAndCharacterOfPosition(offset).line
  return lineOf(node.end) - lineOf(node.getStart(source)) + 1
}

/** Lines of the outermost registrations of tests inside a node. */
function linesOfTests(source: ts.SourceFile, node: ts.Node): number {
  let lines = 0
  ts.forEachChild(node, (child) => {
    lines +=
      ts.isCallExpression(child) && testRegistrars.has(calleeName(child)) ? linesOf(source, child) : linesOfTests(source, child)
  })
  return lines
}

/** `describe` of `describe('…')`, `describe.each(table)('…')` and `` describe.each`table`('…') ``. */
function calleeName(call: ts.CallExpression): string {
  let callee: ts.Expression = call.expression
  while (true) {
    if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) callee = callee.expression
    else if (ts.isTaggedTemplateExpression(callee)) callee = callee.tag
    else return ts.isIdentifier(callee) ? callee.text : ''
  }
}

function nameOf(source: ts.SourceFile, node: ts.FunctionLikeDeclaration): string {
  if (node.name !== undefined) return node.name.getText(source)
  const { parent } = node
  if ((ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) && ts.isIdentifier(parent.name))
    return parent.name.text
  return `the function in line ${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`
}

/** Whether every statement re-exports from, or imports, modules of the same package. */
function onlyForwards({ statements }: ts.SourceFile): boolean {
  return (
    statements.length > 0 &&
    statements.every((statement) => {
      const isForward = ts.isExportDeclaration(statement) || ts.isImportDeclaration(statement)
      const from = isForward ? statement.moduleSpecifier : undefined
      return from !== undefined && ts.isStringLiteral(from) && from.text.startsWith('.')
    })
  )
}

const body = (lines: number): string => '  work()\n'.repeat(lines)

describe('the measure', () => {
  const none: ReadonlySet<string> = new Set()
  const problemsOf = (text: string, file = 'example.ts') => findingsIn(file, text, none).map(({ problem }) => problem)

  it('accepts 400 lines and rejects 401', () => {
    expect(problemsOf('work()\n'.repeat(400))).toEqual([])
    expect(problemsOf('work()\n'.repeat(401))).toEqual(['401 lines'])
  })

  it('accepts a function of 80 lines and rejects one of 81', () => {
    expect(problemsOf(`function short() {\n${body(78)}}\n`)).toEqual([])
    expect(problemsOf(`const long = () => {\n${body(79)}}\n`)).toEqual(['long has 81 lines'])
  })

  it('counts each test by itself, not the group', () => {
    const test = `it.each([1])('works', () => {\n${body(60)}})\n`
    expect(problemsOf(`describe('a group', () => {\n${test}${test}})\n`)).toEqual([])
    expect(problemsOf(`describe('a group', () => {\nit('works', () => {\n${body(79)}})\n})\n`)).toEqual([
      'the function in line 2 has 81 lines',
    ])
  })

  it('rejects a module that only re-exports another, but for entries', () => {
    const text = "export { parse } from './parse.ts'\n"
    expect(problemsOf(text)).toEqual(['1 lines that only re-export other modules'])
    expect(problemsOf(text, 'parse/index.ts')).toEqual([])
    expect(problemsOf("export { parse } from 'a-library'\n")).toEqual([])
    expect(findingsIn('example.ts', text, new Set(['example.ts']))).toEqual([])
  })
})

describe('modules', () => {
  const entries = packageEntries()
  const findings = handWrittenFiles().sources.flatMap((file) => findingsIn(file, textOf(file), entries))

  it('are no longer than 400 lines, with functions of at most 80, and do more than re-export', () => {
    const lines = findings.filter(({ file }) => !isPending(file)).map(({ file, problem }) => `${file}: ${problem}`)
    expect(lines.join('\n')).toBe('')
  })

  it('have no pending path without findings', () => {
    expect(pending.filter((path) => !findings.some(({ file }) => file === path || file.startsWith(`${path}/`)))).toEqual([])
  })
})
