/** What the direct form of a function no longer needs. */
import ts from 'typescript'
import { type Edit, edited, isMemberName } from './edits.ts'

/** Removes the local counters that decided about pauses alone. */
export function withoutCounters(code: string): string {
  for (;;) {
    const file = ts.createSourceFile('code.ts', code, ts.ScriptTarget.ESNext, true)
    const unused = unusedCounter(file)
    if (unused === undefined) return code
    code = edited(
      code,
      {},
      unused.map((node): Edit => [node.getStart(file), node.getEnd(), '']),
    )
  }
}

function unusedCounter(file: ts.SourceFile): ts.Statement[] | undefined {
  const uses = new Map<string, ts.Identifier[]>()
  const visit = (node: ts.Node) => {
    if (ts.isIdentifier(node) && !isMemberName(node)) uses.set(node.text, [...(uses.get(node.text) ?? []), node])
    ts.forEachChild(node, visit)
  }
  visit(file)
  for (const nodes of uses.values()) {
    const statements = nodes.map(removable).filter((statement) => statement !== undefined)
    if (statements.length === nodes.length && statements.some(ts.isVariableStatement)) return statements
  }
  return undefined
}

/** The statement that only declares or counts up the variable. */
function removable(identifier: ts.Identifier): ts.Statement | undefined {
  const { parent } = identifier
  if (ts.isVariableDeclaration(parent) && parent.name === identifier) {
    const isPlain = parent.initializer === undefined || ts.isNumericLiteral(parent.initializer)
    const { parent: list } = parent
    const isAlone = ts.isVariableDeclarationList(list) && list.declarations.length === 1
    return isPlain && isAlone && ts.isVariableStatement(list.parent) ? list.parent : undefined
  }
  if (!ts.isExpressionStatement(parent.parent)) return undefined
  if (ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent)) return parent.parent
  const adds = ts.isBinaryExpression(parent) && parent.left === identifier && /^[-+]?=$/.test(parent.operatorToken.getText())
  return adds ? parent.parent : undefined
}

/** Loops over `memberNames(x)` become `for ... in`, which allocates no list. */
export function withForIn(code: string): string {
  for (;;) {
    const file = ts.createSourceFile('code.ts', code, ts.ScriptTarget.ESNext, true)
    const edits = forInEdits(file)
    if (edits === undefined) return code
    code = edited(code, {}, edits)
  }
}

function forInEdits(file: ts.SourceFile): Edit[] | undefined {
  const nodes: ts.Node[] = []
  const visit = (node: ts.Node) => {
    nodes.push(node)
    ts.forEachChild(node, visit)
  }
  visit(file)
  for (const loop of nodes.filter(ts.isForOfStatement)) {
    const of = file.text.slice(loop.initializer.getEnd(), loop.expression.getStart(file))
    const replaceOf: Edit = [loop.initializer.getEnd(), loop.expression.getStart(file), of.replace('of', 'in')]
    const listed = memberNamesOf(loop.expression)
    if (listed !== undefined) return [replaceOf, [loop.expression.getStart(file), loop.expression.getEnd(), listed]]
    if (!ts.isIdentifier(loop.expression)) continue
    const { text } = loop.expression
    const uses = nodes.filter(ts.isIdentifier).filter((node) => node.text === text && !isMemberName(node))
    const declaration = uses
      .map(({ parent }) => parent)
      .filter(ts.isVariableDeclaration)
      .find(({ initializer }) => memberNamesOf(initializer) !== undefined)
    const object = memberNamesOf(declaration?.initializer)
    if (uses.length > 3 || declaration?.initializer === undefined || object === undefined) continue
    const statement = declaration.parent.parent
    const other = uses.find((use) => use !== declaration.name && use !== loop.expression)
    if (other !== undefined && !isReturned(other)) continue
    const initializer = declaration.initializer.getText(file)
    const replaceOther: Edit[] = other === undefined ? [] : [[other.getStart(file), other.getEnd(), initializer]]
    return [
      [statement.getStart(file), statement.getEnd(), ''],
      ...replaceOther,
      replaceOf,
      [loop.expression.getStart(file), loop.expression.getEnd(), object],
    ]
  }
  return undefined
}

/** An argument of a call that a function returns, which happens once. */
function isReturned(use: ts.Identifier): boolean {
  const { parent } = use
  return ts.isCallExpression(parent) && parent.arguments.includes(use) && ts.isReturnStatement(parent.parent)
}

/** The object whose names an expression returns: `memberNames(object)`, or `known ?? memberNames(object)`. */
function memberNamesOf(node: ts.Expression | undefined): string | undefined {
  if (node === undefined) return undefined
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
    return memberNamesOf(node.right)
  return ts.isCallExpression(node) && node.expression.getText() === 'memberNames' ? node.arguments[0]?.getText() : undefined
}
