#!/usr/bin/env node
// `npm run rules`: writes docs/conformance.md, the table of the specification's rules and the tests that name them in their
// titles. Our wording of the rules is docs/conformance-rules.json. `--check` only tells whether the table is up to date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import ts from 'typescript'
import { root, setup } from './setup.mjs'

setup()
const rules = JSON.parse(readFileSync(join(root, 'docs/conformance-rules.json'), 'utf8'))
const target = join(root, 'docs/conformance.md')
const table = render(collect())
if (process.argv.includes('--check')) {
  const fresh = readFileSync(target, 'utf8') === table
  console.log(fresh ? 'docs/conformance.md is up to date' : 'docs/conformance.md is out of date: npm run rules')
  process.exitCode = fresh ? 0 : 1
} else {
  writeFileSync(target, table)
}

/** Rule id -> file -> number of tests that name it. */
function collect() {
  const found = new Map()
  const unknown = new Set()
  for (const file of testFiles()) {
    for (const title of titlesOf(file)) {
      for (const [id] of title.matchAll(/\b[PS]\d{1,3}\b/g)) {
        if (!(id in rules)) {
          unknown.add(`${id} in ${file}`)
          continue
        }
        const files = found.get(id) ?? new Map()
        found.set(id, files.set(file, (files.get(file) ?? 0) + 1))
      }
    }
  }
  for (const name of unknown) console.log(`rules: no such rule: ${name}`)
  return found
}

function testFiles() {
  const folders = ['packages', 'tests', 'examples']
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((path) => join(folder, path).replaceAll('\\', '/'))
        .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules') && !path.includes('/dist/')),
    )
    .sort()
}

/** First arguments of it, test and describe, also behind .each and the like. */
function titlesOf(file) {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ES2023, false)
  const titles = []
  const visit = (node) => {
    if (ts.isCallExpression(node) && ['it', 'test', 'describe'].includes(rootName(node.expression))) {
      const [first] = node.arguments
      if (first !== undefined && ts.isStringLiteralLike(first)) titles.push(first.text)
      else if (first !== undefined && ts.isTemplateExpression(first))
        titles.push([first.head, ...first.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(' '))
      else if (first !== undefined && ts.isArrayLiteralExpression(first)) titles.push(...rowTitles(first))
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return titles
}

/** Rows of `it.each([['P1 ...', ...]])` may name their rule in their first cell. */
function rowTitles(rows) {
  return rows.elements.flatMap((row) => {
    const first = ts.isArrayLiteralExpression(row) ? row.elements[0] : row
    return first !== undefined && ts.isStringLiteralLike(first) && /^[PS]\d{1,3}\b/.test(first.text) ? [first.text] : []
  })
}

function rootName(expression) {
  if (ts.isIdentifier(expression)) return expression.text
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression) || ts.isTaggedTemplateExpression(expression))
    return rootName(expression.expression ?? expression.tag)
  return ''
}

function render(found) {
  const ids = Object.keys(rules)
  const shown = ids.filter((id) => found.has(id)).length
  const lines = [
    '# Rules and the tests that show them',
    '',
    'Made by `npm run rules` from `docs/conformance-rules.json` and the titles of the tests; do not edit. P are rules of the protocol, S of',
    'configuration and storage; the number after the id is the section of the specification. Many rules are also shown by recorded',
    'answers of a stock server (`npm run wire`), which are not listed here.',
    '',
    `${shown} of ${ids.length} rules are named by a test.`,
    '',
    '| rule | section | what it says | tests |',
    '|---|---|---|---|',
  ]
  for (const id of ids) {
    const [section, text] = rules[id]
    const tests = [...(found.get(id) ?? [])].map(
      ([file, count]) => `[${basename(file, '.test.ts')}](../${file})${count > 1 ? ` ×${count}` : ''}`,
    )
    lines.push(`| ${id} | ${section} | ${text.replaceAll('|', '\\|')} | ${tests.join(', ')} |`)
  }
  return `${lines.join('\n')}\n`
}
