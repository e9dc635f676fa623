import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

/** A generator that is called as a statement never runs, and the compiler accepts that. */

const root = fileURLToPath(new URL('..', import.meta.url))

function programOf(config: string): ts.Program {
  const read = ts.readConfigFile(config, ts.sys.readFile)
  const parsed = ts.parseJsonConfigFileContent(read.config, ts.sys, root)
  return ts.createProgram(parsed.fileNames, { ...parsed.options, noEmit: true, incremental: false })
}

/** Calls whose result is a generator that nothing takes, as `file:line`. */
function unusedGenerators(program: ts.Program): string[] {
  const checker = program.getTypeChecker()
  const found: string[] = []
  for (const file of program.getSourceFiles()) {
    if (file.isDeclarationFile || file.fileName.includes('/node_modules/')) continue
    const visit = (node: ts.Node): void => {
      const call = droppedCall(node, checker)
      const name = call === undefined ? '' : checker.getTypeAtLocation(call).symbol?.name
      if (name === 'Generator' || name === 'AsyncGenerator') {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart())
        found.push(`${file.fileName.slice(root.length)}:${line + 1}`)
      }
      ts.forEachChild(node, visit)
    }
    visit(file)
  }
  return found
}

/** The call whose result a statement drops, or an arrow function where its caller expects none. */
function droppedCall(node: ts.Node, checker: ts.TypeChecker): ts.Expression | undefined {
  if (ts.isExpressionStatement(node)) return ts.isCallExpression(node.expression) ? node.expression : undefined
  if (!ts.isArrowFunction(node) || !ts.isCallExpression(node.body)) return undefined
  const [expected] = checker.getContextualType(node)?.getCallSignatures() ?? []
  const isVoid = expected !== undefined && (expected.getReturnType().flags & ts.TypeFlags.Void) !== 0
  return isVoid ? node.body : undefined
}

describe('generators', () => {
  it('are never called without taking what they yield', { timeout: 300_000 }, () => {
    expect(unusedGenerators(programOf(`${root}tsconfig.json`))).toEqual([])
  })

  it('that are called as statements are found', () => {
    const name = `${root}tests/sample.ts`
    const text =
      'function* steps(): Generator<number, void> { yield 1 }\nsteps()\nfor (const _ of steps()) void _\nfunction run(fn: () => void) { fn() }\nrun(() => steps())\n'
    const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts'] }
    const host = ts.createCompilerHost(options)
    const { getSourceFile } = host
    host.getSourceFile = (file, ...rest) =>
      file === name ? ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true) : getSourceFile.call(host, file, ...rest)
    expect(unusedGenerators(ts.createProgram([name], options, host))).toEqual(['tests/sample.ts:2', 'tests/sample.ts:5'])
  })
})
