import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
import { Deployment } from '@krmkit/kinds/apps/v1'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { type ServerProcess, startServerProcess } from './support/server-process.ts'
import { type Finished, run } from './support/tool.ts'

/** Releases of a chart with a custom resource definition, and of one with a workload on simulated nodes, with `helm`. `HELM` sets the command; skipped without it. */

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

const workload = `apiVersion: apps/v1
kind: Deployment
metadata: { name: {{ .Release.Name }} }
spec:
  replicas: 3
  selector: { matchLabels: { app: {{ .Release.Name }} } }
  template:
    metadata:
      labels: { app: {{ .Release.Name }} }
      annotations: { simulation.krmkit.dev/ready-after: 1s {{ if .Values.broken }}, simulation.krmkit.dev/pull-error: not found {{ end }} }
    spec: { containers: [{ name: web, image: "web:1" }] }
---
apiVersion: v1
kind: Service
metadata: { name: {{ .Release.Name }} }
spec: { selector: { app: {{ .Release.Name }} }, ports: [{ port: 80 }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: {{ .Release.Name }}-migrate, annotations: { helm.sh/hook: pre-install } }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: migrate, image: "migrate:1" }] } } }
---
apiVersion: v1
kind: Pod
metadata: { name: {{ .Release.Name }}-test, annotations: { helm.sh/hook: test, simulation.krmkit.dev/exit-code: "{{ .Values.testExitCode }}" } }
spec: { restartPolicy: Never, containers: [{ name: wget, image: "busybox:1", command: [wget], args: ["{{ .Release.Name }}:80"] }] }
`

const folder = temporaryFolder()
let server: ServerProcess | undefined
beforeAll(async () => {
  if (missing !== undefined) return
  await mkdir(join(folder, 'chart', 'crds'), { recursive: true })
  await mkdir(join(folder, 'chart', 'templates'))
  await writeFile(join(folder, 'chart', 'Chart.yaml'), 'apiVersion: v2\nname: toys\nversion: 1.0.0\n')
  await writeFile(join(folder, 'chart', 'values.yaml'), 'size: 1\n')
  await writeFile(join(folder, 'chart', 'crds', 'toys.yaml'), definition)
  await writeFile(join(folder, 'chart', 'templates', 'all.yaml'), templates)
  await mkdir(join(folder, 'workload', 'templates'), { recursive: true })
  await writeFile(join(folder, 'workload', 'Chart.yaml'), 'apiVersion: v2\nname: workload\nversion: 1.0.0\n')
  await writeFile(join(folder, 'workload', 'values.yaml'), 'broken: false\ntestExitCode: 0\n')
  await writeFile(join(folder, 'workload', 'templates', 'all.yaml'), workload)
  const flags = ['--storage', 'memory', '--secure-port', '0', '--data-dir', join(folder, 'data'), '--simulate-nodes', '3']
  server = await startServerProcess(flags)
})
afterAll(async () => {
  await server?.stop()
})

function runHelm(line: string): Promise<Finished> {
  const env = { ...process.env, KUBECONFIG: join(folder, 'data', 'admin.kubeconfig'), HOME: folder }
  return run(helmProgram, [...line.split(' '), '--namespace', 'shop'], { cwd: folder, env })
}

async function helm(line: string): Promise<string> {
  const finished = await runHelm(line)
  expect(finished.code, `helm ${line}: ${finished.stderr}`).toBe(0)
  return finished.stdout
}

describe.skipIf(missing !== undefined)(`helm${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('installs, upgrades, rolls back and uninstalls', async () => {
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

  it('waits until the pods of a release are ready, and no longer than its timeout', async () => {
    await helm('install web workload --create-namespace --wait --timeout 60s')
    const path = join(folder, 'data', 'admin.kubeconfig')
    await using client = createRemoteClient(await loadKubeconfig({ path }))
    const readyOf = async (name: string) => (await client.get(Deployment, name, { namespace: 'shop' })).status?.readyReplicas ?? 0
    expect(await readyOf('web')).toBe(3)
    const broken = await runHelm('install broken workload --set broken=true --wait --timeout 3s')
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringMatching(/context deadline exceeded|timed out|not ready/)])
    expect(await readyOf('broken')).toBe(0)
    await helm('uninstall web broken --wait')
  })

  it('runs the tests of a release', async () => {
    await helm('install tested workload --create-namespace --wait --timeout 60s')
    expect(await helm('test tested --timeout 60s')).toMatch(/TEST SUITE:\s+tested-test[\s\S]*Phase:\s+Succeeded/)
    await helm('install faulty workload --set testExitCode=1 --wait --timeout 60s')
    const faulty = await runHelm('test faulty --timeout 60s')
    expect([faulty.code, faulty.stdout + faulty.stderr]).toEqual([1, expect.stringMatching(/faulty-test[\s\S]*fail/i)])
    await helm('uninstall tested faulty --wait')
  })
})
