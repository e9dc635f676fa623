import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundledProgram } from '../testing/bundled-program.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { widgetDefinition } from '../testing/widget-definition.ts'
import { LanguageClient, type PublishedDiagnostics } from './testing/language-client.ts'

const folder = temporaryFolder()
const uri = (name: string) => pathToFileURL(join(folder, name)).href
let program = ''
let client: LanguageClient

beforeAll(async () => {
  const bundled = await bundledProgram(new URL('./testing/language-server-main.ts', import.meta.url))
  program = bundled.file
  writeFileSync(join(folder, 'crd.yaml'), widgetDefinition)
  client = new LanguageClient(program)
  await client.start([pathToFileURL(folder).href])
})

afterAll(async () => {
  expect(await client.stop()).toBe(0)
  rmSync(dirname(program), { recursive: true })
})

const codes = ({ diagnostics }: PublishedDiagnostics) => diagnostics.map(({ code }) => code)
const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: two
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        imagee: nginx
        imagePullPolicy: Always
`

describe('diagnostics', () => {
  it('follow a document as it is edited', async () => {
    const file = uri('deployment.yaml')
    client.open(file, deployment)
    const first = await client.diagnostics(file)
    expect(first).toMatchObject({ version: 1 })
    expect(first.diagnostics).toMatchObject([
      {
        source: 'krmkit',
        code: 'type',
        severity: 1,
        range: { start: { line: 5, character: 12 }, end: { line: 5, character: 15 } },
        message: 'Deployment web: spec.replicas: expected an integer of 32 bits, found string',
      },
      { code: 'required' },
      { code: 'unknown-field' },
    ])
    client.edit(file, 2, { line: 5, from: 12, to: 15, text: '2' })
    client.edit(file, 3, { line: 12, from: 8, to: 14, text: 'image' })
    const corrected = await client.diagnostics(file, ({ version }) => version === 3)
    expect(corrected.diagnostics).toEqual([])
    // The state between the two edits was not validated.
    expect(client.count(file)).toBe(2)
    client.notify('textDocument/didClose', { textDocument: { uri: file } })
    await client.diagnostics(file, ({ version }) => version === undefined)
  })

  it('follow JSON', async () => {
    const file = uri('map.json')
    client.open(file, '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": 1}}', 'json')
    expect(codes(await client.diagnostics(file))).toEqual(['type'])
    client.edit(file, 2, { line: 0, from: 83, to: 84, text: '"1"' })
    expect(codes(await client.diagnostics(file, ({ version }) => version === 2))).toEqual([])
    client.edit(file, 3, { line: 0, from: 0, to: 1, text: '' })
    expect(codes(await client.diagnostics(file, ({ version }) => version === 3))).toContain('syntax')
  })

  it('use the definitions of the workspace, and of open documents in place of their files', async () => {
    const file = uri('widget.yaml')
    client.open(file, 'apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 0}\n')
    const found = await client.diagnostics(file, (each) => codes(each).includes('invalid'))
    expect(found.diagnostics[0]?.message).toContain('spec.size: Invalid value: 0')
    const definition = uri('crd.yaml')
    client.open(definition, widgetDefinition.replace('minimum: 1', 'minimum: 0'))
    client.edit(definition, 2, { line: 0, from: 0, to: 0, text: '# edited\n' })
    await client.diagnostics(file, (each) => codes(each).length === 0)
  })

  it('leave templates and other files alone', async () => {
    const texts: readonly (readonly [string, string])[] = [
      [
        'templates/deployment.yaml',
        'apiVersion: v1\nkind: {{ .Values.kind }}\nmetadata: {}\n{{- if .Values.a }}\na: b\n{{- end }}\n',
      ],
      ['loose.yaml', 'apiVersion: v1\n{{- range .items }}\nkind: Pod\n{{- end }}\n'],
      ['compose.yaml', 'services:\n  web: {image: a}\n'],
      ['empty.yaml', ''],
    ]
    for (const [name, text] of texts) {
      client.open(uri(name), text)
      expect((await client.diagnostics(uri(name))).diagnostics).toEqual([])
    }
    client.open(uri('workflow.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "{{inputs.a}}", b: 1}\n')
    expect(codes(await client.diagnostics(uri('workflow.yaml')))).toEqual(['type'])
  })

  it('of large texts come from a thread, while the server answers', async () => {
    const file = uri('large.yaml')
    const text = Array.from(
      { length: 4000 },
      (_, i) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a${i}}\ndata: {a: ${i}}\n`,
    )
    client.open(file, text.join('---\n'))
    client.open(uri('small.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndate: {}\n')
    await client.diagnostics(uri('small.yaml'))
    expect(client.count(file)).toBe(0)
    // The edit ends the thread of the first version.
    client.edit(file, 2, { line: 3, from: 6, to: 12, text: '{}' })
    const found = await client.diagnostics(file)
    expect(found.version).toBe(2)
    expect(found.diagnostics).toHaveLength(3999)
    client.notify('textDocument/didClose', { textDocument: { uri: file } })
    await client.diagnostics(file, ({ version }) => version === undefined)
  })

  it.each([
    [
      'aliases',
      `apiVersion: v1\na: &a [x, x, x, x, x, x, x, x]\n${'bcdefghi'
        .split('')
        .map((name, i) => `${name}: &${name} [${`*${String.fromCharCode(97 + i)}, `.repeat(8)}]\n`)
        .join('')}`,
    ],
    ['nesting', `apiVersion: v1\na: ${'['.repeat(100_000)}`],
    ['length', `apiVersion: v1\na: ${'x'.repeat(9 * 2 ** 20)}`],
  ])(
    'bound %s',
    async (name, text) => {
      client.open(uri(`${name}.yaml`), text)
      const { diagnostics } = await client.diagnostics(uri(`${name}.yaml`))
      expect(diagnostics.length).toBeGreaterThan(0)
      client.notify('textDocument/didClose', { textDocument: { uri: uri(`${name}.yaml`) } })
    },
    60_000,
  )
})

describe('the editor is helped', () => {
  const at = (line: number, character: number) => ({ textDocument: { uri: uri('help.yaml') }, position: { line, character } })
  const help = deployment.replace('imagee', 'image').replace('two', '2')
  beforeAll(async () => {
    client.open(uri('help.yaml'), help)
    await client.diagnostics(uri('help.yaml'))
  })

  const hover = async (line: number, character: number) =>
    (await client.request<{ contents: { value: string } } | null>('textDocument/hover', at(line, character)))?.contents.value

  it('by hover with what is known of a field', async () => {
    expect(await hover(5, 4)).toBe('**spec.replicas**: `integer of 32 bits`')
    expect(await hover(6, 4)).toContain('immutable: it cannot change after creation')
    expect(await hover(10, 8)).toContain('items have the keys `name`')
    const policy = await hover(13, 12)
    expect(policy).toContain('**spec.template.spec.containers[0].imagePullPolicy**: `string`')
    expect(policy).toContain('allowed: `Always`, `Never`, `IfNotPresent`')
    expect(await hover(1, 8)).toContain('since Kubernetes 1.9')
    expect(await hover(0, 40)).toBeUndefined()
  })

  it('by hover with the owners of a field', async () => {
    const file = uri('owned.yaml')
    const fields = '{"f:data": {"f:a": {}}}'
    client.open(
      file,
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  managedFields:\n  - manager: ci\n    operation: Apply\n    apiVersion: v1\n    time: "2025-01-02T03:04:05Z"\n    fieldsType: FieldsV1\n    fieldsV1: ${fields}\ndata: {a: b, c: d}\n`,
    )
    const position = (character: number) => ({ textDocument: { uri: file }, position: { line: 11, character } })
    const owned = await client.request<{ contents: { value: string } }>('textDocument/hover', position(7))
    expect(owned.contents.value).toContain('Owners:\n- `ci` (Apply, 2025-01-02T03:04:05Z)')
    const unowned = await client.request<{ contents: { value: string } }>('textDocument/hover', position(13))
    expect(unowned.contents.value).toContain('No manager owns it.')
  })

  interface Item {
    readonly label: string
    readonly detail?: string
    readonly textEdit: { readonly newText: string; readonly range: object }
  }

  it('by completion of fields, values, kinds and versions', async () => {
    const file = uri('typed.yaml')
    const complete = async (text: string) => {
      client.open(file, text)
      const lines = text.split('\n')
      const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 }
      return client.request<Item[]>('textDocument/completion', { textDocument: { uri: file }, position })
    }
    const labels = (items: Item[]) => items.map(({ label }) => label)
    const fields = await complete(`${help}        termin`)
    expect(labels(fields)).toContain('terminationMessagePath')
    expect(labels(fields)).not.toContain('image')
    expect(fields.find(({ label }) => label === 'ports')?.textEdit).toMatchObject({ newText: 'ports:\n        - ' })
    expect(labels(await complete(`${help}        terminationMessagePolicy: `))).toEqual(['File', 'FallbackToLogsOnError'])
    expect(labels(await complete('apiVersion: apps/v1\nkind: '))).toEqual(expect.arrayContaining(['DaemonSet', 'Deployment']))
    expect(labels(await complete('kind: CronJob\napiVersion: '))).toEqual(['batch/v1'])
    expect(labels(await complete('apiVersion: shop.example.com/v1\nkind: '))).toEqual(['Widget'])
    expect(labels(await complete('apiVersion: shop.example.com/v1\nkind: Widget\nspec:\n  '))).toContain('size')
    expect(labels(await complete('a'))).toEqual(['apiVersion', 'kind', 'metadata'])
  })

  it('by completion in JSON', async () => {
    const file = uri('typed.json')
    const text = '{"apiVersion": "v1", "kind": "Pod", "spec": {"restartPolicy": ""}}'
    client.open(file, text, 'json')
    const position = { line: 0, character: text.indexOf('""}') + 1 }
    const items = await client.request<Item[]>('textDocument/completion', { textDocument: { uri: file }, position })
    expect(items.map(({ textEdit }) => textEdit.newText)).toEqual(['Always', 'OnFailure', 'Never'])
  })

  it('by the symbols of a document', async () => {
    const file = uri('symbols.yaml')
    client.open(file, `${help}---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n`)
    const symbols = await client.request<{ name: string; range: object; children: { name: string }[] }[]>(
      'textDocument/documentSymbol',
      { textDocument: { uri: file } },
    )
    expect(symbols.map(({ name }) => name)).toEqual(['Deployment web', 'Service shop/web'])
    expect(symbols[0]).toMatchObject({ range: { start: { line: 0 }, end: { line: 15 } } })
    expect(symbols[0]?.children.map(({ name }) => name)).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
  })

  it('by quick fixes', async () => {
    const file = uri('fix.yaml')
    client.open(file, 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\n')
    await client.diagnostics(file)
    const range = { start: { line: 0, character: 14 }, end: { line: 0, character: 14 } }
    const actions = await client.request<object[]>('textDocument/codeAction', {
      textDocument: { uri: file },
      range,
      context: { diagnostics: [] },
    })
    const edit = { range: { start: { line: 0, character: 12 }, end: { line: 0, character: 25 } }, newText: 'batch/v1' }
    expect(actions).toMatchObject([{ title: 'Use batch/v1', kind: 'quickfix', edit: { changes: { [file]: [edit] } } }])
  })
})

describe('threads', () => {
  it('end at their time limit', async () => {
    const slow = new LanguageClient(program, ['20'])
    await slow.start()
    slow.open(uri('large.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n'.repeat(20_000))
    const { diagnostics } = await slow.diagnostics(uri('large.yaml'))
    expect(diagnostics).toMatchObject([{ severity: 3, message: 'validation ended: it takes more than 0.02 seconds' }])
    expect(await slow.stop()).toBe(0)
  })
})

describe('settings', () => {
  it('choose release and rules; invalid ones are reported', async () => {
    const other = new LanguageClient(program)
    await other.start([], { kubernetesVersion: '1.24', rules: { 'unchecked-kind': 'off', 'unknown-field': 'warning' } })
    other.open(uri('a.yaml'), 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\n')
    expect((await other.diagnostics(uri('a.yaml'))).diagnostics).toEqual([])
    expect(await other.stop()).toBe(0)
    const wrong = new LanguageClient(program)
    await wrong.start([], { rules: { nope: 'off' } })
    expect(wrong.messages).toContainEqual(
      expect.objectContaining({
        method: 'window/showMessage',
        params: { type: 1, message: expect.stringContaining('unknown rule nope') },
      }),
    )
    expect(await wrong.stop()).toBe(0)
  })
})
