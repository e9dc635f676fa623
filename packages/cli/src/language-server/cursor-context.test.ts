import { describe, expect, it } from 'vitest'
import type { CursorContext } from './cursor-context.ts'
import { jsonContext } from './json-context.ts'
import { yamlContext } from './yaml-context.ts'

/** The context at the mark `¦`. */
function at(marked: string, read: typeof yamlContext): CursorContext | undefined {
  const offset = marked.indexOf('¦')
  const before = marked.slice(0, offset).split('\n')
  return read(marked.replace('¦', ''), { line: before.length - 1, column: before.at(-1)?.length ?? 0 })
}

const text = (context: CursorContext | undefined) =>
  context === undefined
    ? undefined
    : `${context.steps.join('/')}${context.name === undefined ? '' : ` = ${context.name}`} [${[...context.siblings].join(' ')}] ${context.object.get('kind') ?? ''}`

describe('yamlContext', () => {
  it.each([
    ['api¦', ' [] '],
    ['apiVersion: v1\nkind: Pod\n¦', ' [kind apiVersion] Pod'],
    ['apiVersion: ¦\nkind: Pod\n', ' = apiVersion [apiVersion kind] Pod'],
    ['kind: Pod\nspec:\n  ¦\n', 'spec [] Pod'],
    ['kind: Pod\nspec:\n  ¦\nmetadata: {}\n', 'spec [] Pod'],
    ['kind: Pod\nspec:\n  a: 1\n  ¦\n  b: 2\n', 'spec [a b] Pod'],
    ['kind: Pod\nspec:\n  containers:\n  - name: a\n    ima¦\n', 'spec/containers/0 [name] Pod'],
    ['kind: Pod\nspec:\n  containers:\n    - name: a\n    - name: b\n      ¦\n', 'spec/containers/1 [name] Pod'],
    ['kind: Pod\nspec:\n  containers:\n  - ¦\n', 'spec/containers/0 [] Pod'],
    [
      'kind: Pod\nspec:\n  containers:\n  - name: a\n    ports:\n    - containerPort: 80\n    - ¦',
      'spec/containers/0/ports/1 [] Pod',
    ],
    [
      'kind: Pod\nspec:\n  containers:\n  - name: a\n    imagePullPolicy: A¦\n',
      'spec/containers/0 = imagePullPolicy [imagePullPolicy name] Pod',
    ],
    ['kind: Pod\nspec:\n  containers:\n  - image: a # ¦\n', undefined],
    ['kind: A\n---\nkind: B\nspec:\n  ¦\n---\nkind: C\n', 'spec [] B'],
    ['kind: List\nitems:\n- kind: A\n  spec:\n    ¦\n- kind: B\n', 'spec [] A'],
    ['kind: List\nitems:\n- kind: A\n- kind: B\n  ¦\n', ' [kind] B'],
    ['"kind": "Pod"\nspec:\n\n  # comment\n  ¦\n', 'spec [] Pod'],
    ['kind: Pod\r\nspec:\r\n  ¦\r\n', 'spec [] Pod'],
  ])('of %j', (marked, expected) => expect(text(at(marked, yamlContext))).toBe(expected))

  it('replaces the word at the cursor', () => {
    expect(at('kind: Pod\nspec:\n  resta¦rt: x', yamlContext)).toMatchObject({
      replace: { line: 2, from: 2, to: 9 },
      hasColon: true,
      indent: 2,
    })
  })

  it('takes hostile texts in linear time', () => {
    const started = process.cpuUsage()
    for (const piece of ['- ', '"', '  a:', '{{', ': ', '#', "'a"]) {
      yamlContext(piece.repeat(50_000), { line: 0, column: 90_000 })
      yamlContext(`${piece}\n`.repeat(19_000), { line: 18_000, column: 1 })
    }
    const { user } = process.cpuUsage(started)
    expect(user / 1000).toBeLessThan(10_000)
  })
})

describe('jsonContext', () => {
  it.each([
    ['{¦', ' [] '],
    ['{"kind": "Pod", ¦', ' [kind] Pod'],
    ['{"spec": {"¦"}, "kind": "Pod"}', 'spec [] Pod'],
    ['{"kind": "Pod", "spec": {"containers": [{"name": "a"}, {"na¦me": "b", "image": ""}]}}', 'spec/containers/1 [image] Pod'],
    ['{"kind": "Pod", "spec": {"restartPolicy": "A¦"}}', 'spec = restartPolicy [restartPolicy] Pod'],
    ['{"kind": "Pod", "spec": {"restartPolicy": ¦}}', 'spec = restartPolicy [restartPolicy] Pod'],
    ['{"kind": "List", "items": [{"kind": "A", "spec": {¦}}]}', 'spec [] A'],
    ['{"kind": "A", "args": [¦]}', undefined],
    ['¦', undefined],
  ])('of %j', (marked, expected) => expect(text(at(marked, jsonContext))).toBe(expected))

  it('replaces the text within the quotes', () => {
    expect(at('{\n  "spec": {"res¦": 1}}', jsonContext)).toMatchObject({ replace: { line: 1, from: 12, to: 15 }, quoted: true })
  })
})
