import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServerProcess, startServerProcess } from './support/server-process.ts'
import { run } from './support/tool.ts'

/** Releases of a chart with a custom resource definition, with `helm`. `HELM` sets the command; skipped without it. */

const helmProgram = process.env['HELM'] ?? 'helm'
const missing = spawnSync(helmProgram, ['version', '--short'], { encoding: 'utf8' }).error?.message

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: toys.helm.example.com }
spec:
  group: helm.example.com
  scope: Namespaced
  names: { plural: toys, kind: Toy }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: integer } } } } } }
`
const templates = `apiVersion: helm.example.com/v1
kind: Toy
metadata: { name: {{ .Release.Name }} }
spec: { size: {{ .Values.size }} }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: {{ .Release.Name }}, labels: { release: "{{ .Release.Revision }}" } }
data: { size: "{{ .Values.size }}", version: "{{ .Capabilities.KubeVersion.Version }}" }
{{ if .Capabilities.APIVersions.Has "batch/v1/Job" }}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-hook
  annotations: { helm.sh/hook: pre-install, helm.sh/hook-delete-policy: before-hook-creation }
stringData: { looked: {{ len (lookup "v1" "Namespace" "" "").items | quote }} }
{{ end }}
`

let folder: string
let server: ServerProcess | undefined
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-helm-'))
  if (missing !== undefined) return
  await mkdir(join(folder, 'chart', 'crds'), { recursive: true })
  await mkdir(join(folder, 'chart', 'templates'))
  await writeFile(join(folder, 'chart', 'Chart.yaml'), 'apiVersion: v2\nname: toys\nversion: 1.0.0\n')
  await writeFile(join(folder, 'chart', 'values.yaml'), 'size: 1\n')
  await writeFile(join(folder, 'chart', 'crds', 'toys.yaml'), definition)
  await writeFile(join(folder, 'chart', 'templates', 'all.yaml'), templates)
  server = await startServerProcess(['--storage', 'memory', '--secure-port', '0', '--data-dir', join(folder, 'data')])
}, 120_000)
afterAll(async () => {
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function helm(line: string): Promise<string> {
  const env = { ...process.env, KUBECONFIG: join(folder, 'data', 'admin.kubeconfig'), HOME: folder }
  const finished = await run(helmProgram, [...line.split(' '), '--namespace', 'shop'], { cwd: folder, env })
  expect(finished.code, `helm ${line}: ${finished.stderr}`).toBe(0)
  return finished.stdout
}

describe.skipIf(missing !== undefined)(`helm${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('installs, upgrades, rolls back and uninstalls', { timeout: 120_000 }, async () => {
    await helm('install one chart --create-namespace --wait')
    expect(await helm('get manifest one')).toContain('version: "v1.33.')
    await helm('upgrade one chart --set size=2 --wait')
    await helm('rollback one 1 --wait')
    const history = JSON.parse(await helm('history one -o json')) as { status: string }[]
    expect(history.map(({ status }) => status)).toEqual(['superseded', 'superseded', 'deployed'])
    const releases = JSON.parse(await helm('list -o json')) as { name: string; revision: string }[]
    expect(releases).toMatchObject([{ name: 'one', revision: '3' }])
    expect(await helm('get hooks one')).toContain('looked: "')
    await helm('uninstall one --wait')
    expect(JSON.parse(await helm('list -o json'))).toEqual([])
  })
})
