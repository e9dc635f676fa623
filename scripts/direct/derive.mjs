import ts from 'typescript'

/**
 * The direct form of a module of pausable functions: the same functions without pauses, for small objects.
 *
 * `function*` loses its star, `yield* f(x)` becomes `f(x)`, a plain `yield` goes with the condition and the counter that belong to it alone,
 * and `Work<T>` becomes `T`. Everything else of the module is imported from it. A pausable function that has no direct form runs at once.
 *
 * A condition on `.paced` whose two outcomes become equal goes, too, and so does what remembers the names of large objects for later work
 * with pauses.
 *
 * @param {string} path of the source, relative to the root
 * @param {string} text
 * @param {Modules} modules
 * @returns {string} unformatted
 *
 * @typedef {object} Modules what the deriver knows of other modules
 * @property {(from: string, specifier: string) => string | undefined} resolve the source file behind a specifier
 * @property {(path: string) => ReadonlySet<string>} pausable the pausable names that a module exports
 * @property {(specifier: string, name: string) => string | undefined} directSpecifier where the direct form is imported from, if there is one
 */
export function derive(path, text, modules) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const source = { path, file, local: pausableNames(file), imports: importsOf(file), direct: new Map() }
  for (const [name, { specifier, imported }] of source.imports) {
    const target = modules.resolve(path, specifier)
    if (target !== undefined && modules.pausable(target).has(imported))
      source.direct.set(name, modules.directSpecifier(specifier, imported))
  }
  const parts = file.statements
    .filter((statement) => source.local.has(declaredName(statement)))
    .map((statement) => `${docOf(file, statement)}${withForIn(withoutCounters(directSource(source, statement)))}`)
  if (parts.length === 0) throw new Error(`${path}: no pausable function`)
  const body = parts.join('\n\n')
  return `// Derived from ${fileName(path)} by \`npm run direct\`: do not edit.\n${importLines(source, body)}\n${body}\n`
}

function docOf(file, statement) {
  const comments = ts.getLeadingCommentRanges(file.text, statement.getFullStart()) ?? []
  const doc = comments.filter(({ pos }) => file.text.startsWith('/**', pos)).at(-1)
  return doc === undefined ? '' : `${file.text.slice(doc.pos, doc.end)}\n`
}

function fileName(path) {
  return path.split('/').at(-1)
}

function fault({ path, file }, node, message) {
  const { line } = file.getLineAndCharacterOfPosition(node.getStart(file))
  return new Error(`${path}:${line + 1}: ${message}`)
}

/** The text of a node in its direct form. */
function directSource(source, node) {
  const { file } = source
  if (ts.isYieldExpression(node)) return directYield(source, node)
  if (ts.isTypeReferenceNode(node) && node.typeName.getText(file) === 'Work')
    return node.typeArguments === undefined ? 'void' : directSource(source, node.typeArguments[0])
  if (isDropped(node)) return ''
  const only = onlyOutcome(source, node)
  if (only !== undefined) return only
  const edits = []
  ts.forEachChild(node, (child) => {
    const isStar = child === node.asteriskToken && !ts.isYieldExpression(node)
    const after = isStar ? '' : directSource(source, child)
    // The comment above a pause goes with it.
    const comments = isDropped(child) ? ts.getLeadingCommentRanges(file.text, child.getFullStart()) : undefined
    const from = comments?.[0]?.pos ?? child.getStart(file)
    if (after !== file.text.slice(from, child.getEnd())) edits.push([from, child.getEnd(), after])
  })
  return edited(file.text, node.getStart(file), node.getEnd(), edits)
}

function directYield(source, node) {
  const { expression } = node
  if (node.asteriskToken === undefined) throw fault(source, node, 'a yield whose value is used has no direct form')
  if (expression === undefined || !ts.isCallExpression(expression))
    throw fault(source, node, 'yield* needs a call, which says what runs')
  const { expression: callee } = expression
  const text = directSource(source, expression)
  if (!ts.isIdentifier(callee)) {
    const members = callee.getText(source.file)
    return /\.paced\??\./.test(members) ? text.replace(/\??\.paced\b/, '') : atOnce(source, text)
  }
  const isParameter = !source.local.has(callee.text) && !source.imports.has(callee.text)
  const isDirect = isParameter || source.local.has(callee.text) || source.direct.get(callee.text) !== undefined
  return isDirect ? text : atOnce(source, text)
}

/** What a choice between the pausable and the direct form of an operation becomes. */
function onlyOutcome(source, node) {
  const isChoice = ts.isConditionalExpression(node) || (ts.isIfStatement(node) && node.elseStatement !== undefined)
  if (!isChoice) return undefined
  const [condition, first, second] = ts.isIfStatement(node)
    ? [node.expression, node.thenStatement, node.elseStatement]
    : [node.condition, node.whenTrue, node.whenFalse]
  if (!/\.paced\b/.test(condition.getText(source.file))) return undefined
  const outcome = directSource(source, first)
  return outcome === directSource(source, second) ? outcome : undefined
}

function atOnce(source, text) {
  source.runsAtOnce = true
  return `runAtOnce(${text})`
}

/** Whether a statement only pauses, with the condition that decides it. */
function isDropped(node) {
  if (isPause(node) || isRemembering(node)) return true
  if (ts.isBlock(node) && ts.isIfStatement(node.parent)) return node.statements.length > 0 && node.statements.every(isDropped)
  return (
    ts.isIfStatement(node) && isDropped(node.thenStatement) && (node.elseStatement === undefined || isDropped(node.elseStatement))
  )
}

function isPause(node) {
  return ts.isExpressionStatement(node) && ts.isYieldExpression(node.expression) && node.expression.asteriskToken === undefined
}

function importLines(source, code) {
  const { path, file, local, imports, direct } = source
  const wanted = new Map()
  const add = (specifier, entry) => wanted.set(specifier, [...(wanted.get(specifier) ?? []), entry])
  const used = usedNames(code)
  if (source.runsAtOnce === true && !imports.has('runAtOnce')) add('@krmkit/meta/work', 'runAtOnce')
  for (const name of used) {
    const from = imports.get(name)
    if (from !== undefined) {
      const entry = from.imported === name ? name : `${from.imported} as ${name}`
      add(direct.get(name) ?? from.specifier, from.type ? `type ${entry}` : entry)
      continue
    }
    const declaration = file.statements.find((statement) => declaredNames(statement).includes(name))
    if (declaration === undefined || local.has(name)) continue
    if (!isExported(declaration)) throw fault(source, declaration, `${name} must be exported: the direct form uses it`)
    add(`./${fileName(path)}`, isType(declaration) ? `type ${name}` : name)
  }
  return [...wanted].map(([specifier, names]) => `import { ${names.join(', ')} } from '${specifier}'\n`).join('')
}

/** The pausable declarations of a module: functions, and types that mention `Work`. */
export function pausableNames(file) {
  const names = new Set()
  for (const statement of file.statements) {
    const name = declaredName(statement)
    if (name === undefined) continue
    if (ts.isFunctionDeclaration(statement) && (statement.asteriskToken || isWork(statement.type))) names.add(name)
    else if (ts.isVariableStatement(statement)) {
      const { initializer } = statement.declarationList.declarations[0]
      if (initializer !== undefined && ts.isArrowFunction(initializer) && isWork(initializer.type)) names.add(name)
      else if (initializer !== undefined && ts.isFunctionExpression(initializer) && initializer.asteriskToken) names.add(name)
    } else if (isType(statement) && /\bWork\b/.test(statement.getText(file))) names.add(name)
  }
  return names
}

function isWork(type) {
  return type !== undefined && ts.isTypeReferenceNode(type) && type.typeName.getText() === 'Work'
}

function isType(statement) {
  return ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)
}

function isExported(statement) {
  return statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
}

function declaredNames(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
  const named =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isEnumDeclaration(statement) ||
    isType(statement)
  return named && statement.name !== undefined ? [statement.name.text] : []
}

function declaredName(statement) {
  return declaredNames(statement)[0]
}

function importsOf(file) {
  const found = new Map()
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement)) continue
    const clause = statement.importClause
    const bindings = clause?.namedBindings
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue
    for (const { name, propertyName, isTypeOnly } of bindings.elements) {
      const imported = (propertyName ?? name).text
      const type = isTypeOnly || clause.isTypeOnly === true
      found.set(name.text, { specifier: statement.moduleSpecifier.text, imported, type })
    }
  }
  return found
}

/** Names that code uses as variables or types, not as members. */
function usedNames(code) {
  const file = ts.createSourceFile('code.ts', code, ts.ScriptTarget.ESNext, true)
  const names = new Set()
  const visit = (node) => {
    if (ts.isIdentifier(node) && !isMemberName(node)) names.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return names
}

function isMemberName(node) {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) || ts.isQualifiedName(parent)) return (parent.name ?? parent.right) === node
  if (ts.isBindingElement(parent)) return parent.propertyName === node
  return (
    (ts.isPropertyAssignment(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isMethodSignature(parent) ||
      ts.isMethodDeclaration(parent)) &&
    parent.name === node
  )
}

/** Removes the local counters that decided about pauses alone. */
function withoutCounters(code) {
  for (;;) {
    const file = ts.createSourceFile('code.ts', code, ts.ScriptTarget.ESNext, true)
    const unused = unusedCounter(file)
    if (unused === undefined) return code
    code = edited(
      code,
      0,
      code.length,
      unused.map((node) => [node.getStart(file), node.getEnd(), '']),
    )
  }
}

function unusedCounter(file) {
  const uses = new Map()
  const visit = (node) => {
    if (ts.isIdentifier(node) && !isMemberName(node)) uses.set(node.text, [...(uses.get(node.text) ?? []), node])
    ts.forEachChild(node, visit)
  }
  visit(file)
  for (const nodes of uses.values()) {
    const statements = nodes.map(removable)
    if (statements.every((statement) => statement !== undefined) && statements.some(ts.isVariableStatement)) return statements
  }
  return undefined
}

/** The statement that only declares or counts up the variable. */
function removable(identifier) {
  const { parent } = identifier
  if (ts.isVariableDeclaration(parent) && parent.name === identifier) {
    const isPlain = parent.initializer === undefined || ts.isNumericLiteral(parent.initializer)
    const { parent: list } = parent
    const isAlone = ts.isVariableDeclarationList(list) && list.declarations.length === 1
    return isPlain && isAlone && ts.isVariableStatement(list.parent) ? list.parent : undefined
  }
  const counts =
    (ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent)) && ts.isExpressionStatement(parent.parent)
  if (counts) return parent.parent
  const adds = ts.isBinaryExpression(parent) && parent.left === identifier && ts.isExpressionStatement(parent.parent)
  return adds && /^[-+]?=$/.test(parent.operatorToken.getText()) ? parent.parent : undefined
}

/** Loops over `memberNames(x)` become `for ... in`, which allocates no list. */
function withForIn(code) {
  for (;;) {
    const file = ts.createSourceFile('code.ts', code, ts.ScriptTarget.ESNext, true)
    const edits = forInEdits(file)
    if (edits === undefined) return code
    code = edited(code, 0, code.length, edits)
  }
}

function forInEdits(file) {
  const nodes = []
  const visit = (node) => {
    nodes.push(node)
    ts.forEachChild(node, visit)
  }
  visit(file)
  for (const loop of nodes.filter(ts.isForOfStatement)) {
    const of = file.text.slice(loop.initializer.getEnd(), loop.expression.getStart(file))
    const replaceOf = [loop.initializer.getEnd(), loop.expression.getStart(file), of.replace('of', 'in')]
    if (isMemberNames(loop.expression))
      return [replaceOf, [loop.expression.getStart(file), loop.expression.getEnd(), memberNamesOf(loop.expression)]]
    if (!ts.isIdentifier(loop.expression)) continue
    const { text } = loop.expression
    const uses = nodes.filter((node) => ts.isIdentifier(node) && node.text === text && !isMemberName(node))
    const declaration = uses
      .map(({ parent }) => parent)
      .find((parent) => ts.isVariableDeclaration(parent) && isMemberNames(parent.initializer))
    if (uses.length > 3 || declaration === undefined) continue
    const statement = declaration.parent.parent
    const object = memberNamesOf(declaration.initializer)
    const other = uses.find((use) => use !== declaration.name && use !== loop.expression)
    if (other !== undefined && !isReturned(other)) continue
    return [
      [statement.getStart(file), statement.getEnd(), ''],
      ...(other === undefined ? [] : [[other.getStart(file), other.getEnd(), declaration.initializer.getText(file)]]),
      replaceOf,
      [loop.expression.getStart(file), loop.expression.getEnd(), object],
    ]
  }
  return undefined
}

/** An argument of a call that a function returns, which happens once. */
function isReturned(use) {
  const { parent } = use
  return ts.isCallExpression(parent) && parent.arguments.includes(use) && ts.isReturnStatement(parent.parent)
}

/** `memberNames(object)`, or names that are known from elsewhere: `known ?? memberNames(object)`. */
function isMemberNames(node) {
  return memberNamesOf(node) !== undefined
}

/** The object whose names an expression returns. */
function memberNamesOf(node) {
  if (node === undefined) return undefined
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
    return memberNamesOf(node.right)
  return ts.isCallExpression(node) && node.expression.getText() === 'memberNames' ? node.arguments[0].getText() : undefined
}

function isRemembering(node) {
  return (
    ts.isExpressionStatement(node) &&
    ts.isCallExpression(node.expression) &&
    /^remember[A-Z]/.test(node.expression.expression.getText())
  )
}

function edited(text, start, end, edits) {
  let result = ''
  let at = start
  for (const [from, to, replacement] of edits.sort((a, b) => a[0] - b[0])) {
    result += text.slice(at, from) + replacement
    at = to
  }
  return result + text.slice(at, end)
}

/** @returns {string} */
export function directPath(path) {
  return path.replace(/\.ts$/, '.direct.ts')
}
