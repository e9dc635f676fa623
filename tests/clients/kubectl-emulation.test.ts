import { listen } from '@krmkit/http'
import { groupsAt } from '@krmkit/kinds/releases'
import { formatApiVersion } from '@krmkit/meta'
import { createTestServer } from '@krmkit/testing'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { kubectlMissing, kubectlProgram, skipNote } from './support/kubectl.ts'
import { run } from './support/tool.ts'

/** Stock kubectl against emulated releases: what each one serves, and what it has removed. */

const home = temporaryFolder()

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } }
const namespace = 'default'

/** Manifests of removed versions, by the release that removes them. */
const removed: Readonly<Record<string, readonly object[]>> = {
  '1.22': [
    {
      apiVersion: 'extensions/v1beta1',
      kind: 'Ingress',
      metadata: { name: 'a', namespace },
      spec: { backend: { serviceName: 'web', servicePort: 80 } },
    },
    { apiVersion: 'rbac.authorization.k8s.io/v1beta1', kind: 'ClusterRole', metadata: { name: 'a' }, rules: [] },
  ],
  '1.25': [
    {
      apiVersion: 'batch/v1beta1',
      kind: 'CronJob',
      metadata: { name: 'a', namespace },
      spec: { schedule: '@daily', jobTemplate: { spec: { template } } },
    },
    { apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget', metadata: { name: 'a', namespace }, spec: { minAvailable: 1 } },
  ],
  '1.26': [
    {
      apiVersion: 'autoscaling/v2beta2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a', namespace },
      spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' } },
    },
  ],
  '1.27': [
    {
      apiVersion: 'storage.k8s.io/v1beta1',
      kind: 'CSIStorageCapacity',
      metadata: { name: 'a', namespace },
      storageClassName: 'a',
    },
  ],
}

const minor = (release: string) => Number(release.slice(2))

describe.skipIf(kubectlMissing !== undefined)(`kubectl and emulated releases${skipNote}`, () => {
  it.each(['1.21', '1.22', '1.24', '1.25', '1.26', '1.27', '1.29', '1.32'])(
    '%s: lists its versions, and takes the objects of those alone [P334, P335]',
    async (release) => {
      await using cluster = await createTestServer({ emulate: release })
      await using listener = await cluster.listen((server) => listen(server, { tls: false }))
      const kubectl = (args: readonly string[], stdin = '') =>
        run(kubectlProgram, [`--server=${listener.url}`, ...args], {
          env: { ...process.env, HOME: home },
          stdin,
          timeoutMs: 60_000,
        })
      const { stdout } = await kubectl(['api-versions'])
      const expected = groupsAt(release).flatMap(({ group, versions }) =>
        versions.map((version) => formatApiVersion({ group, version })),
      )
      expect(stdout.trim().split('\n').sort()).toEqual(expected.sort())
      for (const [removal, manifests] of Object.entries(removed)) {
        for (const manifest of manifests) {
          const { code, stderr } = await kubectl(['create', '--validate=false', '-f', '-'], JSON.stringify(manifest))
          const { kind } = manifest as { kind: string }
          if (minor(release) < minor(removal)) expect([kind, code]).toEqual([kind, 0])
          else expect([kind, code, stderr]).toEqual([kind, 1, expect.stringContaining(`no matches for kind "${kind}"`)])
        }
      }
    },
    120_000,
  )
})
