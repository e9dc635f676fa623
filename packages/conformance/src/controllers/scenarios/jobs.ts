import { type Json, podTemplate, type Scenario, type ScenarioNamespace, script } from '../scenario.ts'

const id = 'batch/v1/jobs/work'

export function job(spec: Json, text: string) {
  const { spec: podSpec } = podTemplate('work', { restartPolicy: 'Never' }, script(text))
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'work' }, spec: { template: { spec: podSpec }, ...spec } }
}

const untilFinished = (namespace: ScenarioNamespace) =>
  namespace.until(id, ({ status }) =>
    (status?.conditions ?? []).some(
      (condition: { type: string; status: string }) => /^(Complete|Failed)$/.test(condition.type) && condition.status === 'True',
    ),
  )

const finishes = (name: string, spec: Json, text: string): Scenario => ({
  name,
  run: async (namespace) => {
    await namespace.create(job(spec, text))
    await untilFinished(namespace)
  },
})

const onExit = (action: string, values: readonly number[]) => ({ action, onExitCodes: { operator: 'In', values } })

/** The exit code of an indexed pod is given by annotations of the simulation, which have no index: half of the indexes fail by deletion. */
async function failIndexes(namespace: ScenarioNamespace, indexes: readonly number[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const index of indexes) {
      const pods = await namespace.untilPods(`batch.kubernetes.io/job-completion-index=${index}`, (found) =>
        found.some(({ status }) => status.phase === 'Running'),
      )
      const running = pods.find(({ status }) => status.phase === 'Running')
      const state = { terminated: { exitCode: 3, reason: 'Error' } }
      const containerStatuses = running?.['status'].containerStatuses.map((each: Json) => ({
        ...each,
        ready: false,
        started: false,
        state,
      }))
      await namespace.merge(`v1/pods/${running?.metadata.name}`, { status: { phase: 'Failed', containerStatuses } }, 'status')
    }
  }
}

async function succeed(namespace: ScenarioNamespace, index: number): Promise<void> {
  const [pod] = await namespace.untilPods(`batch.kubernetes.io/job-completion-index=${index}`, (found) =>
    found.some(({ status }) => status.phase === 'Running'),
  )
  await namespace.merge(`v1/pods/${pod?.metadata.name}`, { status: { phase: 'Succeeded' } }, 'status')
}

export const jobs: readonly Scenario[] = [
  finishes('job', { completions: 3, parallelism: 2 }, 'exit 0'),
  finishes('job-fails', { backoffLimit: 0 }, 'exit 1'),
  finishes('job-fails-again', { backoffLimit: 1 }, 'exit 1'),
  finishes('job-indexed', { completions: 3, parallelism: 3, completionMode: 'Indexed' }, 'exit 0'),
  finishes('job-deadline', { activeDeadlineSeconds: 3, parallelism: 2, completions: 2 }, 'sleep 100'),
  finishes('job-fail-policy', { backoffLimit: 3, podFailurePolicy: { rules: [onExit('FailJob', [42])] } }, 'exit 42'),
  finishes(
    'job-fail-index-policy',
    {
      completions: 2,
      parallelism: 2,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 2,
      podFailurePolicy: { rules: [onExit('FailIndex', [42])] },
    },
    'exit 42',
  ),
  finishes('job-count-policy', { backoffLimit: 0, podFailurePolicy: { rules: [onExit('Count', [1])] } }, 'exit 1'),
  finishes(
    'job-on-failure',
    { backoffLimit: 0, template: { spec: podTemplate('work', { restartPolicy: 'OnFailure' }, script('exit 1')).spec } },
    '',
  ),
  finishes(
    'job-max-failed-indexes',
    { completions: 4, parallelism: 1, completionMode: 'Indexed', backoffLimitPerIndex: 0, maxFailedIndexes: 1 },
    'exit 1',
  ),
  finishes('job-work-queue', { parallelism: 2 }, 'exit 0'),
  {
    name: 'job-ignore-policy',
    run: async (namespace) => {
      const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }]
      await namespace.create(job({ backoffLimit: 0, podFailurePolicy: { rules } }, 'sleep 8'))
      const [pod] = await namespace.untilPods('job-name=work', (pods) => pods.some(({ status }) => status.phase === 'Running'))
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod?.metadata.name } }
      await namespace.send('POST', `${namespace.path(`v1/pods/${pod?.metadata.name}`)}/eviction`, eviction)
      await untilFinished(namespace)
    },
  },
  {
    name: 'job-backoff-per-index',
    run: async (namespace) => {
      await namespace.create(
        job({ completions: 3, parallelism: 3, completionMode: 'Indexed', backoffLimitPerIndex: 0 }, 'sleep 10'),
      )
      await failIndexes(namespace, [1], 1)
      await untilFinished(namespace)
    },
  },
  {
    name: 'job-success-policy',
    run: async (namespace) => {
      const successPolicy = { rules: [{ succeededIndexes: '0,2', succeededCount: 1 }] }
      await namespace.create(job({ completions: 3, parallelism: 3, completionMode: 'Indexed', successPolicy }, 'sleep 100'))
      await succeed(namespace, 0)
      await untilFinished(namespace)
    },
  },
  {
    name: 'job-suspended',
    run: async (namespace) => {
      await namespace.create(job({ suspend: true, parallelism: 2, completions: 2 }, 'sleep 8'))
      await namespace.wait(2)
      await namespace.merge(id, { spec: { suspend: false } })
      await namespace.untilPods(
        'job-name=work',
        (pods) => pods.length === 2 && pods.every(({ status }) => status.phase === 'Running'),
      )
      await namespace.merge(id, { spec: { suspend: true } })
      await namespace.untilPods('job-name=work', (pods) => pods.length === 0)
      await namespace.wait(1)
      await namespace.merge(id, { spec: { suspend: false } })
      await untilFinished(namespace)
    },
  },
  {
    name: 'job-suspended-for-good',
    run: async (namespace) => {
      await namespace.create(job({}, 'sleep 100'))
      await namespace.untilPods('job-name=work', (pods) => pods.some(({ status }) => status.phase === 'Running'))
      await namespace.merge(id, { spec: { suspend: true } })
    },
  },
  {
    name: 'job-elastic',
    run: async (namespace) => {
      await namespace.create(job({ completions: 3, parallelism: 3, completionMode: 'Indexed' }, 'sleep 100'))
      await namespace.untilPods('job-name=work', (pods) => pods.length === 3)
      await namespace.merge(id, { spec: { completions: 1, parallelism: 1 } })
      await namespace.untilPods('job-name=work', (pods) => pods.length === 1)
    },
  },
  {
    name: 'job-ttl',
    run: async (namespace) => {
      await namespace.create(job({ ttlSecondsAfterFinished: 2 }, 'exit 0'))
      await namespace.untilGone(id)
    },
  },
  {
    name: 'job-managed-by-another',
    run: async (namespace) => {
      await namespace.create(job({ managedBy: 'example.com/other' }, 'exit 0'))
      await namespace.wait(3)
    },
  },
  {
    name: 'job-replacement-failed',
    run: async (namespace) => {
      await namespace.create(job({ podReplacementPolicy: 'Failed' }, 'sleep 100'))
      const [pod] = await namespace.untilPods('job-name=work', (pods) => pods.some(({ status }) => status.phase === 'Running'))
      await namespace.delete(`v1/pods/${pod?.metadata.name}`)
      await namespace.wait(5)
    },
  },
  {
    name: 'job-deleted',
    run: async (namespace) => {
      await namespace.create(job({}, 'sleep 100'))
      await namespace.untilPods('job-name=work', (pods) => pods.some(({ status }) => status.phase === 'Running'))
      await namespace.delete(id, { propagationPolicy: 'Background' })
      await namespace.untilPods('job-name=work', (pods) => pods.length === 0)
    },
  },
]
