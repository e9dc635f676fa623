import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../yaml/parse-yaml.ts'
import { rewriteManifest } from './rewrite-manifest.ts'

type Members = Record<string, unknown>

/** Rewrites the only document of a text. */
function rewritten(text: string, change: (value: Members) => unknown): string {
  const { text: written, unchanged } = rewriteManifest(text, (value) => change(value as Members))
  expect(unchanged).toEqual([])
  return written
}

const ingress = `# The web.
apiVersion: "extensions/v1beta1" # old
kind: Ingress

spec:
    # All other hosts.
    backend:
        serviceName: web   # the service
        # Its port.
        servicePort: 80
    rules:
      - host: a.example.com # first
        note: 'x'
      # second
      - host: b.example.com
    # end of spec
# end
`

describe('rewriteManifest', () => {
  it('keeps comments, indentation, quotes and order when members are renamed and nested', () => {
    const changed = rewritten(ingress, ({ spec, ...rest }) => {
      const { backend, rules } = spec as { backend: Members; rules: Members[] }
      return {
        ...rest,
        apiVersion: 'networking.k8s.io/v1',
        spec: {
          defaultBackend: { service: { name: backend['serviceName'], port: { number: backend['servicePort'] } } },
          rules: rules.map((rule) => ({ ...rule, pathType: 'Prefix' })),
        },
      }
    })
    expect(changed).toBe(`# The web.
apiVersion: "networking.k8s.io/v1" # old
kind: Ingress

spec:
    # All other hosts.
    defaultBackend:
        service:
          name: web   # the service
          port:
            # Its port.
            number: 80
    rules:
      - host: a.example.com # first
        note: 'x'
        pathType: Prefix
      # second
      - host: b.example.com
        pathType: Prefix
    # end of spec
# end
`)
  })

  it('keeps comments of removed members near their place', () => {
    expect(rewritten('a: 1\n# about b\nb: 2 # two\nc: 3\n', ({ a, c }) => ({ a, c }))).toBe('a: 1\nc: 3\n# about b\n# two\n')
    expect(rewritten('- a: 1 # one\n  b: 2\n', (value) => [{ b: (value as unknown as Members[])[0]!['b'] }])).toBe(
      '- b: 2\n  # one\n',
    )
  })

  it('copies blocks and multi-line scalars unchanged to another depth', () => {
    const text = 'a:\n  script: |\n    # not a comment\n    echo 1\n  more: >-\n    folded\n    text # text\n'
    expect(rewritten(text, ({ a }) => ({ b: { c: a } }))).toBe(
      'b:\n  c:\n    script: |\n      # not a comment\n      echo 1\n    more: >-\n      folded\n      text # text\n',
    )
  })

  it('changes members of flow collections in place, and hoists their comments', () => {
    expect(rewritten('a: {b: 1, c: [x, "1"]} # flow\n', ({ a }) => ({ a: { ...(a as Members), d: 'y' } }))).toBe(
      '# flow\na: { b: 1, c: [x, "1"], d: "y" }\n',
    )
  })

  it('does not change other documents of the text', () => {
    const text = '# head\n---\na: 1\n...\n---\n# only a comment\n---\nb:   2\n--- \nc: 3'
    const { text: written } = rewriteManifest(text, (value, index) => (index === 1 ? { b: 4 } : value))
    expect(written).toBe('# head\n---\na: 1\n...\n---\n# only a comment\n---\nb:   4\n--- \nc: 3')
  })

  it('keeps line ends, the byte order mark and a missing final newline', () => {
    expect(rewritten('\ufeffa: 1 # x\r\nb: 2', ({ a }) => ({ a, c: 3 }))).toBe('\ufeffa: 1 # x\r\nc: 3')
  })

  it('keeps anchors that are still used, and reports documents that would lose an anchor', () => {
    const text = 'a: &x\n  k: 1\nb: *x\n'
    expect(rewritten(text, ({ a }) => ({ a, b: a, c: 1 }))).toBe('a: &x\n  k: 1\nb: *x\nc: 1\n')
    expect(rewriteManifest(text, (value) => ({ b: (value as Members)['b'] }))).toEqual({ text, unchanged: [0] })
  })

  it('prints JSON with the indentation of the text', () => {
    expect(rewritten('{\n    "a": 1\n}\n', ({ a }) => ({ a, b: [2] }))).toBe('{\n    "a": 1,\n    "b": [\n        2\n    ]\n}\n')
    expect(rewritten('{"a":1}\n', ({ a }) => ({ b: a }))).toBe('{"b":1}\n')
    expect(rewritten('{"a":1}\n{"a":2}\n', (value) => (value['a'] === 2 ? { a: 3 } : value))).toBe('{"a":1}\n{"a":3}\n')
  })

  it('returns the same text when nothing changes', () => {
    const text = 'a:   [1,2]\n# x\n\n\n---\n---\nb: yes\n'
    expect(rewritten(text, (value) => value)).toBe(text)
    expect(rewritten(text, (value) => structuredClone(value))).toBe(text)
  })

  it('keeps every comment and states the new value, for generated documents and changes', () => {
    fc.assert(
      fc.property(document, fc.array(edit, { minLength: 1, maxLength: 4 }), (lines, edits) => {
        const text = `${lines.join('\n')}\n`
        const { value } = parseYaml(text)
        const wanted = edits.reduce((current, change) => apply(current as Members, change), structuredClone(value))
        const { text: written, unchanged } = rewriteManifest(text, () => wanted)
        expect(unchanged).toEqual([])
        expect(parseYaml(written)).toEqual({ value: wanted, problems: [] })
        for (const comment of text.match(/#c\d+/g) ?? []) expect(written).toContain(comment)
      }),
      { numRuns: 500 },
    )
  })
})

const scalar = fc.constantFrom('1', 'true', 'text', '"quoted # no"', "'it''s'", 'null', 'a-b', '80')
type Tree = string | { readonly [name: string]: Tree } | readonly Tree[]
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.dictionary(fc.constantFrom('a', 'b', 'name', 'spec', 'c d'), tie('tree'), { minKeys: 1, maxKeys: 3 }),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
  ),
}))

/** Lines of a block mapping with comments at several places. */
const document = fc
  .tuple(
    fc.dictionary(fc.constantFrom('a', 'b', 'name', 'spec', 'status'), tree, { minKeys: 1, maxKeys: 4 }),
    fc.infiniteStream(fc.nat(5)),
    fc.constantFrom(0, 2),
  )
  .map(([value, choices, listIndent]) => printed(value, choices, listIndent))

function printed(value: { readonly [name: string]: Tree }, choices: Iterator<number>, listIndent: number): string[] {
  let count = 0
  const comment = () => `#c${count++}`
  const pick = () => choices.next().value as number
  const lines: string[] = []
  const member = (head: string, part: Tree, indent: string, isItem: boolean): void => {
    if (pick() === 0) lines.push(`${indent}${comment()}`)
    const trail = pick() === 1 ? ` ${comment()}` : ''
    if (typeof part === 'string') lines.push(`${indent}${head} ${part}${trail}`)
    else if (Array.isArray(part)) {
      lines.push(`${indent}${head}${trail}`)
      const inner = indent + ' '.repeat(isItem ? 2 : listIndent)
      for (const each of part as readonly Tree[]) member('-', each, inner, true)
    } else {
      lines.push(`${indent}${head}${trail}`)
      for (const [name, each] of Object.entries(part)) member(`${name}:`, each, `${indent}  `, false)
    }
    if (pick() === 2) lines.push(`${indent}  ${comment()}`)
  }
  for (const [name, part] of Object.entries(value)) member(`${name}:`, part, '', false)
  return lines
}

interface Edit {
  readonly sort: 'rename' | 'remove' | 'add' | 'replace' | 'nest' | 'move'
  readonly at: number
  readonly value: unknown
}
const edit: fc.Arbitrary<Edit> = fc.record({
  sort: fc.constantFrom('rename', 'remove', 'add', 'replace', 'nest', 'move'),
  at: fc.nat(20),
  value: fc.constantFrom<unknown>(
    'new',
    'two\nlines\n',
    7,
    null,
    {},
    [],
    { x: [{ y: 1 }, 'z'] },
    [['p', 'q']],
    'yes',
    '- # [',
    '',
  ),
})

/** A changed copy; edits a mapping anywhere in the value. */
function apply(root: Members, { sort, at, value }: Edit): Members {
  const copy = structuredClone(root)
  const mappings: Members[] = []
  const visit = (each: unknown): void => {
    if (typeof each !== 'object' || each === null) return
    if (!Array.isArray(each)) mappings.push(each as Members)
    for (const part of Object.values(each)) visit(part)
  }
  visit(copy)
  const target = mappings[at % mappings.length] as Members
  const names = Object.keys(target)
  const name = names[at % Math.max(names.length, 1)]
  if (sort === 'add' || name === undefined) target[`new${at}`] = structuredClone(value)
  else if (sort === 'replace') target[name] = structuredClone(value)
  else if (sort === 'nest') target[name] = { inner: target[name] }
  else {
    const part = target[name]
    delete target[name]
    if (sort === 'rename') target[`re-${name}`] = part
    if (sort === 'move') copy[`moved${at}`] = part
  }
  return copy
}
