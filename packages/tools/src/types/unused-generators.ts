import ts from 'typescript'

/**
 * Calls whose result is a generator that nothing takes: such a generator never runs, and the compiler accepts that.
 *
 * @param root leading part of file names that the result leaves out
 * @returns `file:line`
 */
export function unusedGenerators(program: ts.Program, root: string): string[] {
  const checker = program.getTypeChecker()
  const found: string[] = []
  for (const file of program.getSourceFiles()) {
    if (file.isDeclarationFile || file.fileName.includes('/node_modules/')) continue
    const visit = (node: ts.Node) => {
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
function droppedCall(node: ts.Node, checker: ts.TypeChecker): ts.CallExpression | undefined {
  if (ts.isExpressionStatement(node)) return ts.isCallExpression(node.expression) ? node.expression : undefined
  if (!ts.isArrowFunction(node) || !ts.isCallExpression(node.body)) return undefined
  const [expected] = checker.getContextualType(node)?.getCallSignatures() ?? []
  const isVoid = expected !== undefined && (expected.getReturnType().flags & ts.TypeFlags.Void) !== 0
  return isVoid ? node.body : undefined
}
