import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type TestTerminal, testTerminal } from '../offline/testing/test-terminal.ts'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder()

let made = 0
const file = (text: string, name = 'x.yaml'): string => {
  const path = join(folder, `${made++}-${name}`)
  writeFileSync(path, text)
  return path
}

const now = Date.UTC(2025, 0, 2, 3, 4, 5)
const run = (flags: readonly string[], parts: Partial<TestTerminal> = {}) =>
  runCommand(flags, testTerminal({ now: () => now, ...parts }))

const deployment = (spec: string) => `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n${spec}`
const containers = (...items: string[]) =>
  `  template:\n    spec:\n      containers:\n${items.map((item) => `      - ${item}\n`).join('')}`
const app = '{name: app, image: nginx:1}'
const side = '{name: side, image: envoy}'

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [id]
                items: {type: object, required: [id], properties: {id: {type: string}, count: {type: integer}}}
`
const widget = (parts: string) => `apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {parts: ${parts}}\n`

/** Writes a Deployment applied by `ci`. */
const live = async (): Promise<string> => {
  const path = join(folder, `${made++}-live.yaml`)
  await run(['apply', file(deployment(`  replicas: 3\n${containers(app)}`)), '--live', path, '--write', '--field-manager=ci'])
  return path
}

describe('krmkit apply', () => {
  it('creates an object and prints it with its owners', async () => {
    const { out, err, code } = await run(['apply', file(deployment(containers(app))), '--field-manager', 'ci', '-o', 'json'])
    expect(code).toBe(0)
    expect(err).toBe('Deployment web: created\n')
    expect(JSON.parse(out)).toMatchObject({
      kind: 'Deployment',
      metadata: { managedFields: [{ manager: 'ci', operation: 'Apply', time: '2025-01-02T03:04:05Z' }] },
    })
  })

  it('updates a live object and prints the changes', async () => {
    const path = await live()
    const { out, err, code } = await run(['apply', file(deployment(containers(side))), '--live', path, '--field-manager=ops'])
    expect(code).toBe(0)
    expect(err).toBe(
      'Deployment web: configured\n  + .spec.template.spec.containers[name="side"]:\n  +     image: envoy\n  +     name: side\n',
    )
    expect(out).toContain('- image: nginx:1\n        name: app\n      - image: envoy\n        name: side\n')
    expect((await run(['apply', path, '--live', path, '-q'])).code).toBe(2)
  })

  it('explains conflicts and changes nothing', async () => {
    const path = await live()
    const before = readFileSync(path, 'utf8')
    const wanted = file(deployment('  replicas: 5\n'))
    const { out, err, code } = await run(['apply', wanted, '--live', path, '--field-manager=ops', '--write'])
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(err).toBe(`Deployment web: 1 conflict, nothing applied
  .spec.replicas is owned by ci (Apply, last at 2025-01-02T03:04:05Z)
    live 3, applied 5
    force   Apply with force: .spec.replicas becomes yours, and ci no longer owns it.
    abandon Leave .spec.replicas out of the configuration: ci stays its only owner.
    share   Put the value that .spec.replicas has now into the configuration: you and ci own it together.
`)
    expect(readFileSync(path, 'utf8')).toBe(before)
    const forced = await run(['apply', wanted, '--live', path, '--field-manager=ops', '--write', '--force-conflicts'])
    expect(forced).toMatchObject({ code: 0, out: '', err: 'Deployment web: configured\n  ~ .spec.replicas: 3 -> 5\n' })
    expect(readFileSync(path, 'utf8')).toContain('replicas: 5')
  })

  it('writes unapplied objects back unchanged', async () => {
    const path = file(
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {x: "1"}\n',
    )
    await run(['apply', file('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {z: "2"}\n'), '--live', path, '-w'])
    expect(readFileSync(path, 'utf8')).toMatch(/name: a\n---\n.*x: "1"\n {2}z: "2"/s)
  })

  it('merges lists of custom resources by their definitions', async () => {
    const before = file(`${widgets}---\n${widget('[{id: a, count: 1}]')}`)
    const { out } = await run(['apply', file(widget('[{id: b, count: 2}]')), '--live', before, '-q'])
    expect(out).toContain('parts:\n  - count: 1\n    id: a\n  - count: 2\n    id: b\n')
    const apart = await run([
      'apply',
      file(widget('[{id: b}]')),
      '--live',
      file(widget('[{id: a}]')),
      '--definitions',
      file(widgets),
    ])
    expect(apart.out).toContain('- id: a\n  - id: b\n')
  })

  it('converts live objects to the applied version', async () => {
    const hpa = (version: string, rest: string) =>
      `apiVersion: autoscaling/${version}\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec:\n  maxReplicas: 3\n  scaleTargetRef: {kind: Deployment, name: web}\n${rest}`
    const { out } = await run([
      'apply',
      file(hpa('v2', '  minReplicas: 2\n')),
      '--live',
      file(hpa('v1', '  targetCPUUtilizationPercentage: 80\n')),
      '-q',
    ])
    expect(out).toContain('apiVersion: autoscaling/v2')
    expect(out).toContain('averageUtilization: 80')
  })

  it.each([
    [['apply', '-', '--write'], '--write needs --live with a file to write to'],
    [['apply', 'nope.yaml'], 'cannot read nope.yaml: no such file or directory'],
    [['apply', '-', '--field-manager', ''], 'It must be 1 to 128 printable characters.'],
  ])('exits with 2: %j', async (flags, sentence) => {
    const { err, code } = await run(flags, { stdin: () => 'a: b' })
    expect(err).toContain(sentence)
    expect(code).toBe(2)
  })

  it('exits with 2 for configurations that a server would reject', async () => {
    const unknown = await run(['apply', file(deployment('  replicaz: 3\n'))])
    expect(unknown).toMatchObject({ code: 2 })
    expect(unknown.err).toContain('.spec.replicaz: field not declared in schema')
    expect((await run(['apply', file('a: b: c\n')])).err).toMatch(/x\.yaml:1:5: mapping values are not allowed/)
    expect((await run(['apply', file('- a\n')])).err).toContain('not an object with apiVersion and kind')
  })
})

describe('krmkit diff', () => {
  const one = deployment(`  replicas: 3\n${containers(app, side)}`)
  const other = deployment(`  replicas: 4\n${containers(side, '{name: app, image: nginx:2}', '{name: new, image: i}')}`)

  it('matches list items by their keys and reports differences by field', async () => {
    const [a, b] = [file(one), file(other)]
    const { out, code } = await run(['diff', a, b])
    expect(out).toBe(`Deployment web (${a} -> ${b})
  ~ .spec.replicas: 3 -> 4
  ~ .spec.template.spec.containers[name="app"].image: "nginx:1" -> "nginx:2"
  + .spec.template.spec.containers[name="new"]:
  +     image: i
  +     name: new
  +     resources: {}
`)
    expect(code).toBe(1)
    expect(await run(['diff', a, a])).toMatchObject({ out: '', code: 0 })
    expect(await run(['diff', a, file(deployment(`  replicas: 3\n${containers(side, app)}`))])).toMatchObject({
      out: '',
      code: 0,
    })
  })

  it('reports objects of one side alone', async () => {
    const [a, b] = [file(one), file(widget('[]'))]
    const { out, code } = await run(['diff', a, b])
    expect(out).toBe(`+ Widget w (only in ${b})\n- Deployment web (only in ${a})\n`)
    expect(code).toBe(1)
  })

  it('excludes ignored fields, and managedFields by default', async () => {
    const [a, b] = [file(one), file(other)]
    const { out } = await run(['diff', a, b, '--ignore', 'spec.template', '--ignore=.spec.replicas'])
    expect(out).toBe('')
    const path = await live()
    const plain = file(deployment(`  replicas: 3\n${containers(app)}`))
    expect((await run(['diff', plain, path])).out).toBe('')
    expect((await run(['diff', plain, path, '--show-managed-fields'])).out).toContain('.metadata.managedFields')
  })

  it('applies defaults with --defaults', async () => {
    const [a, b] = [file(deployment(containers(app))), file(deployment(`  replicas: 1\n${containers(app)}`))]
    expect(await run(['diff', a, b])).toMatchObject({ code: 1 })
    expect(await run(['diff', a, b, '--defaults'])).toMatchObject({ code: 0 })
  })

  it('compares long texts line by line', async () => {
    const map = (text: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  conf: |\n${text.replace(/^/gm, '    ')}\n`
    const lines = Array.from({ length: 12 }, (_, i) => `line ${i}`)
    const { out } = await run(['diff', file(map(lines.join('\n'))), file(map(lines.with(6, 'other').join('\n')))])
    expect(out.split('\n').slice(1)).toEqual([
      '  ~ .data.conf:',
      '      @ 4 lines',
      '        line 4',
      '        line 5',
      '      - line 6',
      '      + other',
      '        line 7',
      '        line 8',
      '      @ 3 lines',
      '',
    ])
  })

  it('prints JSON, and patches', async () => {
    const [a, b] = [file(one), file(other)]
    const { out } = await run(['diff', a, b, '-o', 'json'])
    expect(JSON.parse(out)).toMatchObject([
      {
        status: 'changed',
        object: { kind: 'Deployment', name: 'web' },
        changes: [{ kind: 'modified', field: '.spec.replicas', before: 3, after: 4 }, {}, {}],
      },
    ])
    const patch = file((await run(['diff', a, b, '-o', 'patch'])).out)
    const merged = file((await run(['merge', a, patch])).out)
    expect(await run(['diff', merged, b])).toMatchObject({ code: 0 })
  })

  it('compares objects that violate their schema', async () => {
    const { out, err, code } = await run(['diff', file(deployment('  replicaz: 1\n')), file(deployment('  replicaz: 2\n'))])
    expect(out).toContain('~ .spec.replicaz: 1 -> 2')
    expect(err).toContain('compared without its schema')
    expect(code).toBe(1)
  })
})

describe('krmkit blame', () => {
  it('prints owner, operation and time of each line', async () => {
    const path = await live()
    await run(['apply', file(deployment(containers(side))), '--live', path, '-w', '--field-manager=operator'])
    const { out, code } = await run(['blame', path])
    expect(code).toBe(0)
    const lines = out.split('\n')
    expect(lines).toContain('ci        Apply  2025-01-02T03:04:05Z |   replicas: 3')
    expect(lines).toContain('operator  Apply  2025-01-02T03:04:05Z |       - image: envoy')
    expect(lines).toContain('                                      |   name: web')
    expect(out).not.toContain('managedFields')
    expect((await run(['blame', path, '--color=always'])).out).toContain('\u001b[32mci        Apply')
  })

  it('prints JSON', async () => {
    const { out } = await run(['blame', await live(), '-o', 'json'])
    expect(JSON.parse(out)).toMatchObject([
      {
        object: { kind: 'Deployment', name: 'web' },
        fields: [
          {
            field: '.spec.replicas',
            steps: ['spec', 'replicas'],
            owners: [{ manager: 'ci', operation: 'Apply', since: '2025-01-02T03:04:05Z' }],
          },
          {},
          {},
          {},
        ],
      },
    ])
  })

  it('reports unreadable managedFields', async () => {
    const path = file(
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, managedFields: [{manager: x, fieldsV1: {"nope": {}}}]}\n',
    )
    expect(await run(['blame', path])).toMatchObject({ code: 2 })
  })
})

describe('krmkit merge', () => {
  const target = file(deployment(`  replicas: 3\n${containers(app)}`))

  it('applies strategic merge patches by the merge keys of the kind', async () => {
    const { out, code } = await run([
      'merge',
      target,
      '-p',
      'spec: {replicas: null, template: {spec: {containers: [{name: app, image: new}, {name: b}]}}}',
    ])
    expect(code).toBe(0)
    expect(out).not.toContain('replicas')
    expect(out).toContain('- image: new\n        name: app\n      - name: b\n')
  })

  it('applies JSON merge patches and JSON patches', async () => {
    const merged = await run([
      'merge',
      target,
      '--type=merge',
      '-p',
      '{"spec":{"template":{"spec":{"containers":[{"name":"b"}]}}}}',
      '-o',
      'json',
    ])
    expect(JSON.parse(merged.out).spec).toEqual({ replicas: 3, template: { spec: { containers: [{ name: 'b' }] } } })
    const patched = await run(['merge', target, file('- {op: remove, path: /spec/replicas}\n'), '-o', 'json'])
    expect(JSON.parse(patched.out).spec.replicas).toBeUndefined()
    expect(await run(['merge', '-', '-p', '{"spec":{"parts":null}}'], { stdin: () => widget('[{id: a}]') })).toMatchObject({
      code: 0,
    })
  })

  it('exits with 1 when a patch does not apply', async () => {
    const { err, code, out } = await run(['merge', target, '-p', '[{op: test, path: /spec/replicas, value: 4}]'])
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(err).toContain('Deployment web: ')
  })

  it('computes the patch of client-side apply', async () => {
    const original = file(deployment(`  replicas: 3\n  paused: true\n${containers(app)}`))
    const current = file(deployment(`  replicas: 7\n  paused: true\n${containers(app, side)}`))
    const modified = file(deployment(`  replicas: 4\n${containers(app)}`))
    const three = ['merge', current, '--original', original, '--modified', modified]
    const patch = await run([...three, '--print-patch', '-o', 'json'])
    expect(JSON.parse(patch.out)).toMatchObject({ spec: { paused: null, replicas: 4 } })
    const { out } = await run(three)
    expect(out).toContain('replicas: 4')
    expect(out).toContain('name: side')
    expect(out).not.toContain('paused')
    const conflict = await run([...three, '--no-overwrite'])
    expect(conflict).toMatchObject({ code: 1, out: '' })
    expect(conflict.err).toContain('has been changed since it was last applied')
  })

  it('computes the patch of client-side apply for custom resources', async () => {
    const [original, current, modified] = ['[{id: a}]', '[{id: a}, {id: z}]', '[{id: b}]'].map((parts) => file(widget(parts)))
    const { out } = await run([
      'merge',
      current as string,
      '--original',
      original as string,
      '--modified',
      modified as string,
      '--print-patch',
      '--output=json',
    ])
    expect(JSON.parse(out)).toEqual({ spec: { parts: [{ id: 'b' }] } })
  })

  it.each([
    [['merge', target], 'give one of'],
    [['merge', target, target, '-p', '{}'], 'give one of'],
    [['merge', target, '-p', '{}', '--original', target], '--original needs --modified'],
    [['merge', target, '-p', 'a: b\n---\nc: d'], '--patch: expected one patch, found 2'],
    [['merge', target, '-p', '"text"'], 'cannot unmarshal string'],
    [['merge', '-', '--type=strategic', '-p', '{}'], 'strategic merge patches are for built-in kinds'],
  ])('exits with 2: %j', async (flags, sentence) => {
    const { err, code } = await run(flags, { stdin: () => widget('[]') })
    expect(err).toContain(sentence)
    expect(code).toBe(2)
  })
})

describe('krmkit', () => {
  it('lists every command in the help', async () => {
    const { out } = await run(['--help'])
    const groups = out.slice(out.indexOf('Server:'))
    const names = groups.match(/^ {2}(\w+) /gm)?.map((name) => name.trim())
    expect(names).toEqual(expect.arrayContaining(['serve', 'validate', 'apply', 'diff', 'blame', 'merge', 'help']))
    expect(groups).toContain('Manifests (offline):')
    for (const command of ['validate', 'apply', 'diff', 'blame', 'merge']) {
      const help = await run([command, '--help'])
      expect(help.code).toBe(0)
      expect(help.out).toContain('Exit codes: 0 ')
    }
  })
})
