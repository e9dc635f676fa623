import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLifecycle } from '@krmkit/kinds'
import { parseYaml } from '@krmkit/schema'
import { kindStateAt, replacementAt } from '@krmkit/versioning'
import { describe, expect, it } from 'vitest'
import { type TestTerminal, testTerminal } from '../offline/testing/test-terminal.ts'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { widgetDefinition } from '../testing/widget-definition.ts'

const folder = temporaryFolder()

let made = 0
/** Writes files to a new folder. */
const files = (contents: Readonly<Record<string, string>>): string => {
  const path = join(folder, `case-${made++}`)
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(join(path, name, '..'), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

const run = (flags: readonly string[], terminal: TestTerminal = testTerminal()) => runCommand(['validate', ...flags], terminal)

const configMap = (name: string, rest = '') => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${rest}`

describe('krmkit validate', () => {
  it('prints control characters of a file escaped', async () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a\r\n\u001b[2J' },
      data: { '\u001b[31mk\u009b': 'v' },
    }
    const { out } = await run([files({ 'a.json': JSON.stringify(object) })])
    expect(out).toContain('ConfigMap a\\u000d\\u000a\\u001b[2J:')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not occur
    expect(out).not.toMatch(/[\r\u001b\u009b]/)
  })
})

describe('krmkit validate', () => {
  it('prints findings in the format of compilers', async () => {
    const path = files({ 'a.yaml': configMap('a', 'date: {}\n') })
    const { out } = await run([path])
    expect(out).toBe(`${path}/a.yaml:5:1: error: ConfigMap a: date: unknown field [unknown-field]\n1 object in 1 file: 1 error\n`)
    expect((await run([path, '-q', '--color=always'])).out).toContain('\u001b[31merror\u001b[39m')
  })

  it('reads standard input', async () => {
    const { out, code } = await run(['-'], testTerminal({ stdin: () => configMap('a', 'data: 1\n') }))
    expect(out).toContain('-:5:7: error: ConfigMap a: data: expected a map, found number [type]')
    expect(code).toBe(1)
  })

  it('reads UTF-16 and separated JSON as kubectl does', async () => {
    const json = (name: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"}}\n`
    const path = files({ 'a.json': `${json('a')}---\n${json('b')}`, 'b.yaml': '' })
    writeFileSync(join(path, 'b.yaml'), `\ufeff${configMap('c')}---\n${configMap('d')}`, 'utf16le')
    expect(await run([path])).toMatchObject({ out: '4 objects in 2 files: valid\n', code: 0 })
  })

  it('treats unknown fields by --validate', async () => {
    const path = files({ 'a.yaml': configMap('a', 'data: {a: b}\ndate: {}\ndata: {}\n') })
    expect(await run([path])).toMatchObject({ code: 1 })
    const warned = await run([path, '--validate=warn'])
    expect(warned).toMatchObject({ code: 0 })
    expect(warned.out).toContain('2 warnings')
    expect(await run([path, '--validate=warn', '--fail-on=warning'])).toMatchObject({ code: 1 })
    expect(await run([path, '--validate=ignore'])).toMatchObject({ code: 0, out: '1 object in 1 file: valid\n' })
  })

  it('validates for a release', async () => {
    const path = files({
      'a.yaml': 'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {selector: {}}\n',
      'b.yaml':
        'apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\nspec: {validations: [{expression: "true"}], matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}}\n',
    })
    const now = await run([path])
    expect(now.out).toContain('was removed in Kubernetes 1.25; use policy/v1 PodDisruptionBudget [removed-version]')
    expect(now.out).toContain('1 error')
    const then = await run([path, '--kubernetes-version', 'v1.22.3'])
    expect(then.out).toContain('is not validated: its type is not available; it is removed in Kubernetes 1.25')
    expect(then.out).toContain('is not in Kubernetes 1.22: it was added in Kubernetes 1.30')
    expect(then.out).toContain('2 objects in 2 files, 1 unchecked')
  })

  it.each([
    ['flowcontrol.apiserver.k8s.io/v1beta2', 'FlowSchema', '1.33', 'flowcontrol.apiserver.k8s.io/v1 FlowSchema'],
    ['flowcontrol.apiserver.k8s.io/v1beta2', 'FlowSchema', '1.30', 'flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema'],
    ['flowcontrol.apiserver.k8s.io/v1alpha1', 'PriorityLevelConfiguration', '1.33', '/v1 PriorityLevelConfiguration'],
    ['storage.k8s.io/v1alpha1', 'CSIStorageCapacity', '1.33', 'storage.k8s.io/v1 CSIStorageCapacity'],
    ['networking.k8s.io/v1beta1', 'IngressClass', '1.33', 'networking.k8s.io/v1 IngressClass '],
    ['extensions/v1beta1', 'PodSecurityPolicy', '1.24', 'policy/v1beta1 PodSecurityPolicy'],
    ['extensions/v1beta1', 'PodSecurityPolicy', '1.33', undefined],
  ])('recommends for %s %s in %s a version that the release serves', async (apiVersion, kind, release, recommended) => {
    const path = files({ 'a.yaml': `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}\n` })
    const { out } = await run([path, '--kubernetes-version', release])
    expect(out).toContain(`${apiVersion} ${kind} was removed in Kubernetes`)
    if (recommended === undefined) expect(out).not.toContain('; use')
    else expect(out).toContain(recommended)
    expect(out).toContain('[removed-version]')
  })

  it('recommends a successor in every release only if the release serves it', async () => {
    const lifecycles = readLifecycle()
    for (let minor = 16; minor <= 33; minor++) {
      const release = `1.${minor}`
      for (const replaced of lifecycles) {
        const found = replacementAt(lifecycles, { replaced, release })
        if (found !== undefined) expect(['current', 'deprecated'], found.kind).toContain(kindStateAt(found, release).phase)
      }
    }
  })

  it('reads --definitions, and accepts unknown kinds with --ignore-unknown-kinds', async () => {
    const path = files({ 'a.yaml': 'apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 0}\n' })
    const definitions = files({ 'crd.yaml': `${widgetDefinition}status: {acceptedNames: {kind: "", plural: ""}}\n` })
    expect((await run([path])).out).toContain('kind: no file defines shop.example.com/v1 Widget')
    expect((await run([path, '--definitions', definitions])).out).toContain('spec.size: Invalid value: 0')
    const passed = await run([path, '--ignore-unknown-kinds'])
    expect(passed).toMatchObject({ code: 0, out: '1 object in 1 file, 1 unchecked: valid\n' })
  })

  it('reports an invalid definition', async () => {
    const broken = widgetDefinition.replace('versions:', 'versions: 7\n  other:')
    const path = files({ 'a.yaml': `${broken}---\napiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\n` })
    const { out, code } = await run([path])
    expect(out).toContain('spec.versions: expected a list, found number [type]')
    expect(out).toContain('the definition of shop.example.com/v1 Widget is invalid')
    expect(code).toBe(1)
  })

  it('warns about objects defined in two files', async () => {
    const { out, code } = await run([files({ 'a.yaml': configMap('a'), 'b.yaml': configMap('a') })])
    expect(out).toMatch(/b\.yaml:4:9: warning: ConfigMap a: metadata.name: ConfigMap a is already defined at .*a\.yaml:4/)
    expect(code).toBe(0)
  })

  it('ignores files that are not manifests', async () => {
    const path = files({
      'a.yml': configMap('a'),
      'README.md': '#',
      'kustomization.yaml': 'resources: []\n',
      '.github/workflow.yaml': 'on: push\n',
      'node_modules/x/x.yaml': 'a: b\n',
      'package.json': '{"name": "x", "kind": "odd"}',
      'package-lock.json': '{"name": "x"}',
      'tsconfig.json': '{ // with comments\n}',
      'tsconfig.build.json': '{}',
      'pnpm-lock.yaml': 'lockfileVersion: 9\n',
      'pnpm-workspace.yaml': 'packages: []\n',
      'docker-compose.yml': 'services: {}\n',
      'compose.yaml': 'services: {}\n',
      '.prettierrc.json': '{}',
      'web/package.json': '{}',
    })
    expect((await run([path])).out).toBe('1 object in 1 file: valid\n')
    // A file that the command line names is meant.
    expect(await run([`${path}/package.json`])).toMatchObject({ code: 1, out: expect.stringContaining('apiVersion') })
  })

  it('validates manifests whose names only resemble those of other tools', async () => {
    const path = files({ 'package.yaml': configMap('a'), 'my-package.json': '{}', 'composer.yaml': configMap('b') })
    expect((await run([path])).out).toContain('3 objects in 3 files')
  })

  it('exits with 2 when a file cannot be read, with or without other findings', async () => {
    const path = files({ 'a.yaml': configMap('a', 'date: {}\n') })
    const { out, code } = await run([path, join(path, 'nope')])
    expect(out).toContain(`${path}/nope: error: no such file or directory [unreadable-file]`)
    expect(out).toContain('unknown field')
    expect(code).toBe(2)
    expect(await run([files({ 'a.txt': '' })])).toMatchObject({ code: 2 })
  })

  it.each([
    [['--kubernetes-version', 'new'], 'It must be a release, such as 1.33.'],
    [['--output', 'xml'], 'Allowed choices are text, json, sarif, github.'],
    [['--runtime-config', 'nope/v1=true'], 'unknown api groups nope'],
    [[], "missing required argument 'path'"],
  ])('exits with 2 for invalid flags: %j', async (flags, sentence) => {
    const { err, code } = await run(flags.length === 0 ? [] : ['-', ...flags])
    expect(err).toContain(sentence)
    expect(code).toBe(2)
  })

  it('reports progress with --progress', async () => {
    const path = files(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}.yaml`, configMap(`a${i}`)])))
    const plain = await run([path, '--progress'])
    expect(plain.err.split('\n')).toHaveLength(11)
    expect(plain.err).toContain('validated 20 of 20 files, 0 errors\n')
    let time = 0
    const watched = await run([path, '--progress'], testTerminal({ interactive: true, now: () => (time += 60) }))
    expect(watched.err).toContain('validated 2 of 20 files, 0 errors\r\u001b[K')
    expect(watched.err.endsWith('\r\u001b[K')).toBe(true)
    expect((await run([path])).err).toBe('')
  })

  it('handles arbitrary documents without failing', async () => {
    const path = files({
      'a.yaml': '{{{{[[[[',
      'b.yaml': `${'a: &a [*a]\n'}---\n${'- '.repeat(5000)}x\n`,
      'c.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {__proto__: {a: b}}}\n__proto__: {polluted: true}\nconstructor: 1\n',
      'd.yaml': `apiVersion: v1\nkind: List\nitems: ${'[{apiVersion: v1, kind: List, items: '.repeat(50)}[]${'}]'.repeat(50)}\n`,
      'e.json': '"text"',
      'f.yaml': '\u0000',
      'g.yaml': 'apiVersion: a/b/c\nkind: 1\n',
      'h.yaml': '',
    })
    const { code, out } = await run([path])
    expect(code).toBe(1)
    expect(out).toContain('8 files')
    expect(out).not.toContain('[internal]')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('rules and baselines', () => {
  const text = configMap('a', 'date: {}\ndata: 1\n')

  it('changes severities with --rule, which overrides --validate', async () => {
    const path = files({ 'a.yaml': text })
    expect((await run([path, '--rule', 'unknown-field=warning,type=off'])).out).toContain('1 object in 1 file: 1 warning\n')
    const both = await run([path, '--validate=ignore', '--rule', 'type=off', '--rule', 'unknown-field=error'])
    expect(both).toMatchObject({ code: 1, out: expect.stringContaining('date: unknown field [unknown-field]') })
    expect(await run([path, '--rule', 'nope=off'])).toMatchObject({ code: 2, err: expect.stringContaining('unknown rule nope') })
    expect(await run([path, '--rule', 'type'])).toMatchObject({ code: 2, err: expect.stringContaining('name=value') })
  })

  it('reports only what the baseline does not have', async () => {
    const path = files({ 'a.yaml': text })
    const baseline = join(path, 'known.baseline')
    expect(await run([path, '--baseline', baseline])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--update-baseline'),
    })
    const written = await run([path, '--baseline', baseline, '--update-baseline'])
    expect(written).toMatchObject({ code: 0, out: '1 object in 1 file, 2 known: valid\n' })
    expect(await run([path, '--baseline', baseline])).toMatchObject({ code: 0, out: '1 object in 1 file, 2 known: valid\n' })
    writeFileSync(join(path, 'a.yaml'), `# edited\n${text}other: 1\n`)
    const { out, code } = await run([path, '--baseline', baseline])
    expect(out).toContain('other: unknown field')
    expect(out).toContain('1 object in 1 file, 2 known: 1 error')
    expect(code).toBe(1)
    writeFileSync(baseline, '{}')
    expect(await run([path, '--baseline', baseline])).toMatchObject({ code: 2, err: expect.stringContaining('invalid baseline') })
    expect(await run([path, '--update-baseline'])).toMatchObject({ code: 2, err: expect.stringContaining('--baseline <file>') })
  })

  it('prints workflow commands of GitHub with -o github', async () => {
    const path = files({ 'a,b.yaml': configMap('a', 'date: {}\ndata:\n  "%": 1\n') })
    const { out } = await run([path, '-o', 'github'])
    expect(out).toBe(
      [
        `::error file=${path}/a%2Cb.yaml,line=5,endLine=5,col=1,endColumn=5,title=krmkit unknown-field::ConfigMap a: date: unknown field`,
        `::error file=${path}/a%2Cb.yaml,line=7,endLine=7,col=8,endColumn=9,title=krmkit type::ConfigMap a: data.%25: expected a string, found number`,
        '1 object in 1 file: 2 errors\n',
      ].join('\n'),
    )
  })
})

describe('paths', () => {
  it('are patterns, and left out by --exclude', async () => {
    const path = files({
      'a.yaml': configMap('a'),
      'team/b.yaml': configMap('b'),
      'team/c.json': '{}',
      'team/testdata/d.yaml': configMap('d'),
    })
    const objects = async (...flags: string[]) => (await run(flags)).out.split(' in ')[0]
    expect(await objects(`${path}/**/*.yaml`)).toBe('3 objects')
    expect(await objects(`${path}/*.yaml`)).toBe('1 object')
    expect(await objects(path, '--exclude', 'testdata', '--exclude', '*.json')).toBe('2 objects')
    expect(await objects(`${path}/**/*.yaml`, '--exclude', '**/team/*')).toBe('1 object')
    expect(await run([`${path}/*.yml`])).toMatchObject({ code: 2, out: expect.stringContaining('matches no') })
  })

  it('are those of the hook for pre-commit', async () => {
    const hooks = parseYaml(readFileSync(new URL('../../../../.pre-commit-hooks.yaml', import.meta.url), 'utf8')).value
    expect(hooks).toMatchObject([{ id: 'krmkit-validate', entry: 'krmkit validate', language: 'system' }])
  })

  it('take --release as another name of --kubernetes-version', async () => {
    const path = files({ 'a.yaml': 'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n' })
    expect((await run([path, '--release', '1.24'])).out).toContain('1 unchecked')
  })
})

describe('SARIF', () => {
  it('has a result with a position for each finding', async () => {
    const path = files({ 'a b.yaml': configMap('a', 'date: {}\ndata:\n  a: 1\n') })
    const { out, code } = await run([path, '--output', 'sarif'])
    const log = JSON.parse(out) as {
      version: string
      runs: { tool: { driver: object }; columnKind: string; results: object[] }[]
    }
    expect(code).toBe(1)
    expect(log.version).toBe('2.1.0')
    const [only] = log.runs
    expect(only?.columnKind).toBe('utf16CodeUnits')
    expect(only?.tool.driver).toMatchObject({ name: 'krmkit', rules: [{ id: 'type' }, { id: 'unknown-field' }] })
    expect(only?.results).toMatchObject([
      {
        ruleId: 'unknown-field',
        ruleIndex: 1,
        level: 'error',
        message: { text: 'date: unknown field' },
        locations: [
          {
            physicalLocation: { region: { startLine: 5, startColumn: 1, endLine: 5, endColumn: 5 } },
            logicalLocations: [{ name: 'date', fullyQualifiedName: 'v1/ConfigMap/a#date' }],
          },
        ],
      },
      { ruleId: 'type', ruleIndex: 0, locations: [{ physicalLocation: { region: { startLine: 7, startColumn: 6 } } }] },
    ])
    expect(out).toContain('a%20b.yaml')
  })
})
