import { describe, expect, it } from 'vitest'
import { createValidationBaseline, parseValidationBaseline } from './baseline.ts'
import type { ValidationFinding } from './findings.ts'
import type { RuleSettings } from './rule-settings.ts'
import { widgetDefinition } from './testing/templates.ts'
import { createManifestValidator, validateManifests } from './validate-manifests.ts'

const validator = createManifestValidator()
const configMap = (name: string, rest = '') => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n${rest}`
const findingsIn = async (text: string, path = 'a.yaml'): Promise<readonly ValidationFinding[]> =>
  (await validator.validate([{ path, text }])).findings
/** Returns the text after the edits of a suggestion. */
const corrected = (text: string, { suggestion }: ValidationFinding): string => {
  const lines = text.split('\n')
  for (const { range, text: replacement } of suggestion?.edits ?? []) {
    const line = lines[range.line - 1] as string
    lines[range.line - 1] = line.slice(0, range.column - 1) + replacement + line.slice(range.endColumn - 1)
  }
  return lines.join('\n')
}

describe('validateManifests', () => {
  it('validates the metadata of kinds whose rules do not', async () => {
    const budget =
      'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {labels: {a: "-"}}\nspec: {minAvailable: 1, selector: {}}\n'
    const found = await findingsIn(budget)
    expect(found.map(({ rule, path }) => [rule, path])).toEqual([
      ['required', 'metadata.name'],
      ['invalid', 'metadata.labels'],
    ])
    // Each name has only the error of its kind.
    expect((await findingsIn(configMap('a/B'))).map(({ path }) => path)).toEqual(['metadata.name'])
  })

  it('validates several files together, with definitions among them', async () => {
    const widget = 'apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 0}\n'
    const { findings, summary } = await validateManifests([
      { path: 'widget.yaml', text: widget },
      { path: 'crd.yaml', text: widgetDefinition },
      { path: 'twice.json', text: '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}' },
      { path: 'twice.yaml', text: configMap('a') },
    ])
    expect(findings.map(({ file, rule, path }) => [file, rule, path])).toEqual([
      ['widget.yaml', 'invalid', 'spec.size'],
      ['twice.yaml', 'duplicate-object', 'metadata.name'],
    ])
    expect(findings[0]).toMatchObject({
      document: 1,
      range: { line: 4, column: 14, endLine: 4, endColumn: 15 },
      object: { apiVersion: 'shop.example.com/v1', kind: 'Widget', namespace: '', name: 'a' },
    })
    expect(summary).toEqual({ files: 4, objects: 4, errors: 1, warnings: 1, unchecked: 0, known: 0 })
  })

  it('does not keep definitions between runs', async () => {
    const files = [
      { path: 'a.yaml', text: 'apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 1}\n' },
    ]
    const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
    const spec = {
      group: 'shop.example.com',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    }
    const known = await validator.validate(files, { definitions: [{ ...definition, spec } as { kind: string }] })
    expect(known.findings.map(({ rule }) => rule)).toEqual(['unknown-field'])
    expect((await validator.validate(files)).findings.map(({ rule }) => rule)).toEqual(['missing-definition'])
  })

  it('validates for a release after the default', async () => {
    const spec = '{hostnameOverride: web, containers: [{name: c, image: i}]}'
    const deviceClass = 'apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n'
    const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: ${spec}\n---\n${deviceClass}`
    const messages = async (release: string) => {
      const { findings } = await validateManifests([{ path: 'a.yaml', text }], { release })
      return findings.map(({ message }) => message)
    }
    const [older, later] = [await messages('1.33'), await messages('1.37')]
    expect(older).toEqual([
      'unknown field',
      'resource.k8s.io/v1 DeviceClass is not in Kubernetes 1.33: it was added in Kubernetes 1.34',
    ])
    expect(later).toEqual([])
  })

  it('validates for a release', async () => {
    const text = 'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {selector: {}}\n'
    const { findings } = await validateManifests([{ path: 'a.yaml', text }], { release: '1.24' })
    expect(findings.map(({ rule }) => rule)).toEqual(['unchecked-kind'])
  })

  it('stops when its signal aborts', async () => {
    const files = Array.from({ length: 100 }, (_, i) => ({ path: `${i}.yaml`, text: configMap(`a${i}`) }))
    const abort = new AbortController()
    let seen = 0
    const running = validator.validate(files, {
      signal: abort.signal,
      onFile: () => ++seen === 3 && abort.abort(new Error('enough')),
    })
    await expect(running).rejects.toThrow('enough')
    expect(seen).toBe(3)
  })
})

describe('wrong arguments', () => {
  it.each<readonly [files: unknown, options: unknown, message: string]>([
    [undefined, {}, 'manifests are a list of files such as [{ path: "web.yaml", text }], not undefined'],
    ['kind: Pod', {}, 'manifests are a list of files such as [{ path: "web.yaml", text }], not "kind: Pod"'],
    [['kind: Pod'], {}, 'not "kind: Pod"'],
    [[{ text: 'kind: Pod' }], {}, 'not { text }'],
    [[], '1.31', 'validateManifests needs an object such as { release: "1.31" }, not "1.31"'],
    [[], { relase: '1.31' }, 'validateManifests has no "relase"; did you mean "release"?'],
  ])('are errors with a hint: %#', async (files, options, message) => {
    const validated = (async () => validateManifests(files as never, options as never))()
    const error = { name: 'ValidateError', code: 'InvalidOption', message: expect.stringContaining(message) }
    await expect(validated).rejects.toMatchObject(error)
  })
})

describe('rules', () => {
  const text = configMap('a', 'date: {}\ndata: 1\n')
  const rulesOf = async (rules: RuleSettings) =>
    (await validateManifests([{ path: 'a.yaml', text }], { rules })).findings.map(({ rule, severity }) => `${rule} ${severity}`)

  it('have the configured severities', async () => {
    expect(await rulesOf({})).toEqual(['unknown-field error', 'type error'])
    expect(await rulesOf({ 'unknown-field': 'warning' })).toEqual(['unknown-field warning', 'type error'])
    expect(await rulesOf({ 'unknown-field': 'off', type: 'off' })).toEqual([])
  })

  it('about unknown kinds accept objects if they are off', async () => {
    const files = [{ path: 'a.yaml', text: 'apiVersion: a.example.com/v1\nkind: A\nmetadata: {name: a}\n' }]
    const { findings, summary } = await validateManifests(files, { rules: { 'missing-definition': 'off' } })
    expect(findings).toEqual([])
    expect(summary).toMatchObject({ objects: 1, unchecked: 1 })
  })

  it.each([
    [{ nope: 'off' }, 'unknown rule nope; rules: syntax, '],
    [{ type: 'fatal' }, 'the rule type cannot be "fatal"; it must be error, warning, off'],
    [{ internal: 'off' }, 'the rule internal is always an error'],
    [{ toString: 'off' }, 'unknown rule toString'],
  ])('reject %j', (rules, message) => {
    expect(() => createManifestValidator({ rules: rules as RuleSettings })).toThrow(message)
  })
})

describe('suggestions', () => {
  it.each([
    ['a misspelt field', configMap('a', 'immutabel: true\n'), configMap('a', 'immutable: true\n')],
    ['a quoted one', configMap('a', '"immutabel": true\n'), configMap('a', '"immutable": true\n')],
    ['a field within a list', `${pod}\n    imagee: x\n`, `${pod}\n    image: x\n`],
    ['a misspelt value', `${pod}\n    imagePullPolicy: 'Allways'\n`, `${pod}\n    imagePullPolicy: 'Always'\n`],
    ['a misspelt kind', 'apiVersion: v1\nkind: Pood\n', 'apiVersion: v1\nkind: Pod\n'],
    ['a kind of another group', 'apiVersion: v1\nkind: Deployment\n', 'apiVersion: apps/v1\nkind: Deployment\n'],
    ['a removed version', 'apiVersion: batch/v1beta1\nkind: CronJob\n', 'apiVersion: batch/v1\nkind: CronJob\n'],
  ])('fix %s', async (_, text, expected) => {
    const found = (await findingsIn(text)).filter(({ suggestion }) => suggestion !== undefined)
    expect(found).toHaveLength(1)
    expect(corrected(text, found[0] as ValidationFinding)).toBe(expected)
  })

  it('fix JSON, items of lists and fields of custom resources', async () => {
    const json =
      '{"apiVersion": "v1", "kind": "List", "items": [\n{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},\n "tipe": "Opaque"}]}'
    const [finding] = await findingsIn(json, 'a.json')
    expect(corrected(json, finding as ValidationFinding)).toBe(json.replace('tipe', 'type'))
    const widget = `${widgetDefinition}---\napiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {sise: 1}\n`
    const found = (await findingsIn(widget)).find(({ rule }) => rule === 'unknown-field')
    expect(found?.suggestion?.title).toBe('Replace sise by size')
  })

  it('are absent if no name is similar', async () => {
    const found = await findingsIn(configMap('a', 'zzzzzzzzzzzz: 1\n'))
    expect(found.map(({ suggestion }) => suggestion)).toEqual([undefined])
  })
})

describe('baselines', () => {
  const text = configMap('a', 'date: {}\n')

  it('suppress known findings, even if they were moved', async () => {
    const before = await validator.validate([{ path: 'a.yaml', text }])
    const baseline = parseValidationBaseline(JSON.stringify(createValidationBaseline(before.findings)))
    expect(baseline.findings).toEqual([
      { rule: 'unknown-field', subject: 'v1/ConfigMap/a', path: 'date', message: 'unknown field', count: 1 },
    ])
    const moved = [{ path: 'b.yaml', text: `# moved\n\n${text}data: 1\n` }]
    const after = await validator.validate(moved, { baseline })
    expect(after.findings.map(({ rule }) => rule)).toEqual(['type'])
    expect(after.summary).toMatchObject({ errors: 1, known: 1 })
  })

  it('count equal findings', async () => {
    const other = { path: 'b.yaml', text }
    const { findings } = await validator.validate([{ path: 'a.yaml', text }])
    const again = await validator.validate([{ path: 'a.yaml', text }, other], { baseline: createValidationBaseline(findings) })
    expect(again.findings.map(({ file, rule }) => [file, rule])).toEqual([
      ['b.yaml', 'duplicate-object'],
      ['b.yaml', 'unknown-field'],
    ])
  })

  it.each([
    ['{', 'it is not JSON'],
    ['[]', 'it has no list of findings'],
    ['{"formatVersion": 2, "findings": []}', 'its formatVersion is 2, not 1'],
    ['{"formatVersion": 1, "findings": [{}]}', 'findings[0].rule is not a string'],
    ['{"formatVersion": 1, "findings": [{"rule": "a", "subject": "b", "path": "", "message": "", "count": 0}]}', 'count is not'],
  ])('are rejected when malformed: %s', (malformed, message) => {
    expect(() => parseValidationBaseline(malformed)).toThrow(message)
  })
})

const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a'
