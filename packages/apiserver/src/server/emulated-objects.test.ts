import { describe, expect, it } from 'vitest'
import { created, pathOf, readAs } from '../testing/emulated.ts'
import { sampleServer } from '../testing/sample-server.ts'

/** Objects in versions that 1.33 no longer serves, and fields that earlier releases lack. */

describe('objects of removed versions', () => {
  const hook = { name: 'a.example.com', clientConfig: { service: { namespace: 'x', name: 'y' } } }

  it('webhook configurations have the defaults of v1beta1 [P336]', async () => {
    const server = await sampleServer({ emulate: '1.21' })
    for (const kind of ['Validating', 'Mutating']) {
      const resource = `${kind.toLowerCase()}webhookconfigurations`
      const group = 'admissionregistration.k8s.io'
      const body = {
        apiVersion: `${group}/v1beta1`,
        kind: `${kind}WebhookConfiguration`,
        metadata: { name: 'a' },
        webhooks: [hook, hook],
      }
      await created(server, `${group}/v1beta1`, resource, body)
      for (const version of ['v1beta1', 'v1']) {
        const { webhooks } = await readAs(server, `${group}/${version}`, resource, 'a')
        expect(webhooks[1]).toMatchObject({
          failurePolicy: 'Ignore',
          matchPolicy: 'Exact',
          timeoutSeconds: 30,
          sideEffects: 'Unknown',
          admissionReviewVersions: ['v1beta1'],
          clientConfig: { service: { port: 443 } },
        })
      }
      const again = await server.ask(pathOf(`${group}/v1`, resource), {
        method: 'POST',
        body: { ...body, apiVersion: `${group}/v1`, metadata: { name: 'b' } },
      })
      expect(again.status).toBe(422)
      expect(again.json.details.causes.map(({ field }: { field: string }) => field)).toEqual(
        expect.arrayContaining(['webhooks[0].sideEffects', 'webhooks[0].admissionReviewVersions', 'webhooks[1].name']),
      )
    }
  })

  it('definitions have the shape of v1beta1 [P337, P338]', async () => {
    const server = await sampleServer({ emulate: '1.21' })
    const { ask } = server
    const spec = {
      group: 'shop.example.com',
      version: 'v1',
      names: { plural: 'widgets', kind: 'Widget' },
      additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }],
      subresources: { status: {} },
    }
    const body = {
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.shop.example.com' },
      spec,
    }
    await created(server, 'apiextensions.k8s.io/v1beta1', 'customresourcedefinitions', body)
    const old = await readAs(server, 'apiextensions.k8s.io/v1beta1', 'customresourcedefinitions', body.metadata.name)
    expect(old.spec).toMatchObject({
      version: 'v1',
      scope: 'Namespaced',
      preserveUnknownFields: true,
      additionalPrinterColumns: spec.additionalPrinterColumns,
      subresources: { status: {} },
      versions: [{ name: 'v1', served: true, storage: true }],
      conversion: { strategy: 'None' },
    })
    const { spec: next } = await readAs(server, 'apiextensions.k8s.io/v1', 'customresourcedefinitions', body.metadata.name)
    expect(next.versions).toEqual([
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
    ])
    await expect.poll(async () => (await ask('/apis/shop.example.com/v1/widgets')).status, { interval: 5 }).toBe(200)
    const widget = { apiVersion: 'shop.example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { size: 1 } }
    await created(server, 'shop.example.com/v1', 'widgets', widget, 'default')
    expect((await readAs(server, 'shop.example.com/v1', 'widgets', 'a', 'default')).spec).toEqual({ size: 1 })
  })

  it('ingresses are the same objects in three versions [P339]', async () => {
    const server = await sampleServer({ emulate: '1.21' })
    const paths = [
      { path: '/', backend: { serviceName: 'web', servicePort: 80 } },
      { path: '/a', backend: { serviceName: 'web', servicePort: 'http' } },
    ]
    const spec = { backend: { serviceName: 'other', servicePort: 'x' }, rules: [{ host: 'a.example.com', http: { paths } }] }
    const body = { apiVersion: 'extensions/v1beta1', kind: 'Ingress', metadata: { name: 'a' }, spec }
    await created(server, 'extensions/v1beta1', 'ingresses', body, 'default')
    const next = await readAs(server, 'networking.k8s.io/v1', 'ingresses', 'a', 'default')
    const backend = (port: object) => ({ service: { name: 'web', port } })
    expect(next.spec).toEqual({
      defaultBackend: { service: { name: 'other', port: { name: 'x' } } },
      rules: [
        {
          host: 'a.example.com',
          http: {
            paths: [
              { path: '/', pathType: 'ImplementationSpecific', backend: backend({ number: 80 }) },
              { path: '/a', pathType: 'ImplementationSpecific', backend: backend({ name: 'http' }) },
            ],
          },
        },
      ],
    })
    expect(Object.keys(next.spec)).toEqual(['defaultBackend', 'rules'])
    expect(Object.keys(next.spec.rules[0].http.paths[0])).toEqual(['path', 'pathType', 'backend'])
    const pathTypes = paths.map((path) => ({ ...path, pathType: 'ImplementationSpecific' }))
    for (const version of ['extensions/v1beta1', 'networking.k8s.io/v1beta1']) {
      const old = await readAs(server, version, 'ingresses', 'a', 'default')
      expect([old.apiVersion, old.spec]).toEqual([
        version,
        { ...spec, rules: [{ host: 'a.example.com', http: { paths: pathTypes } }] },
      ])
    }
  })

  it('an empty selector of a budget selects no pods in v1beta1 and all in v1 [P341]', async () => {
    const server = await sampleServer({ emulate: '1.24' })
    const budget = (version: string, name: string) => ({
      apiVersion: `policy/${version}`,
      kind: 'PodDisruptionBudget',
      metadata: { name },
      spec: { minAvailable: 1, selector: {} },
    })
    await created(server, 'policy/v1beta1', 'poddisruptionbudgets', budget('v1beta1', 'none'), 'default')
    await created(server, 'policy/v1', 'poddisruptionbudgets', budget('v1', 'all'), 'default')
    const selector = async (version: string, name: string) =>
      (await readAs(server, `policy/${version}`, 'poddisruptionbudgets', name, 'default')).spec.selector
    const key = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'
    expect(await selector('v1', 'none')).toEqual({ matchExpressions: [{ key, operator: 'Exists' }] })
    expect(await selector('v1beta1', 'none')).toEqual({})
    expect(await selector('v1', 'all')).toEqual({})
    expect(await selector('v1beta1', 'all')).toEqual({ matchExpressions: [{ key, operator: 'DoesNotExist' }] })
  })

  it('reviews of v1beta1 name groups `group` [P340]', async () => {
    const { ask } = await sampleServer({ emulate: '1.21' })
    const spec = { group: ['dev'], nonResourceAttributes: { path: '/', verb: 'get' } }
    const body = { apiVersion: 'authorization.k8s.io/v1beta1', kind: 'SubjectAccessReview', spec }
    const { status, json } = await ask('/apis/authorization.k8s.io/v1beta1/subjectaccessreviews', { method: 'POST', body })
    expect([status, json.spec, json.status.allowed]).toEqual([201, spec, true])
  })

  it('events of v1beta1 have any type, and legacy members [P342]', async () => {
    const server = await sampleServer({ emulate: '1.24' })
    const event = (version: string) => ({
      apiVersion: `events.k8s.io/${version}`,
      kind: 'Event',
      metadata: { name: `a-${version}` },
      type: 'Odd',
      regarding: { namespace: 'default' },
      deprecatedCount: 3,
    })
    await created(server, 'events.k8s.io/v1beta1', 'events', event('v1beta1'), 'default')
    const { status } = await server.ask(pathOf('events.k8s.io/v1', 'events', 'default'), { method: 'POST', body: event('v1') })
    expect(status).toBe(422)
  })

  it('autoscalers have three shapes [P331]', async () => {
    const server = await sampleServer({ emulate: '1.22' })
    const spec = {
      scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' },
      maxReplicas: 3,
      metrics: [{ type: 'Pods', pods: { metricName: 'qps', targetAverageValue: '10' } }],
    }
    const body = { apiVersion: 'autoscaling/v2beta1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' }, spec }
    await created(server, 'autoscaling/v2beta1', 'horizontalpodautoscalers', body, 'default')
    const read = async (version: string) =>
      (await readAs(server, `autoscaling/${version}`, 'horizontalpodautoscalers', 'a', 'default')).spec
    expect(await read('v2beta1')).toEqual({ ...spec, minReplicas: 1 })
    expect((await read('v2beta2')).metrics).toEqual([
      { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } } },
    ])
    expect((await read('v1')).maxReplicas).toBe(3)
  })

  it('pod security policies are stored and validated until 1.24', async () => {
    const server = await sampleServer({ emulate: '1.24' })
    const any = { rule: 'RunAsAny' }
    const spec = { seLinux: any, runAsUser: any, fsGroup: any, supplementalGroups: any, volumes: ['*'] }
    const body = { apiVersion: 'policy/v1beta1', kind: 'PodSecurityPolicy', metadata: { name: 'a' }, spec }
    await created(server, 'policy/v1beta1', 'podsecuritypolicies', body)
    const stored = await readAs(server, 'policy/v1beta1', 'podsecuritypolicies', 'a')
    expect(stored.spec).toEqual({ ...spec, allowPrivilegeEscalation: true })
    const wrong = await server.ask(pathOf('policy/v1beta1', 'podsecuritypolicies'), {
      method: 'POST',
      body: { ...body, metadata: { name: 'b' }, spec: { ...spec, fsGroup: { rule: 'Never' } } },
    })
    expect([wrong.status, wrong.json.details.causes[0].field]).toEqual([422, 'spec.fsGroup.rule'])
    const unlabelled = await server.ask(pathOf('policy/v1beta1', 'podsecuritypolicies'), {
      method: 'POST',
      body: { ...body, metadata: { name: 'c', labels: { 'a b': 'c' } } },
    })
    expect([unlabelled.status, unlabelled.json.details.causes[0].field]).toEqual([422, 'metadata.labels'])
  })
})

describe('fields', () => {
  const cronJob = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'a' },
    spec: {
      schedule: '* * * * *',
      timeZone: 'Etc/UTC',
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } } },
      },
    },
  }

  it.each([
    ['1.23', 'unknown', undefined],
    ['1.24', 'gated', undefined],
    ['1.25', 'kept', 'Etc/UTC'],
  ])('in %s spec.timeZone of a CronJob is %s', async (emulate, _, expected) => {
    const server = await sampleServer({ emulate })
    await created(server, 'batch/v1', 'cronjobs', cronJob, 'default')
    expect((await readAs(server, 'batch/v1', 'cronjobs', 'a', 'default')).spec.timeZone).toBe(expected)
  })

  it('that a release does not know are refused by strict validation from 1.25 on', async () => {
    const strict = async (emulate: string) => {
      const { ask } = await sampleServer({ emulate })
      const body = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'a' },
        spec: { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      }
      const { status } = await ask(`${pathOf('policy/v1', 'poddisruptionbudgets', 'default')}?fieldValidation=Strict`, {
        method: 'POST',
        body,
      })
      return status
    }
    expect([await strict('1.24'), await strict('1.25'), await strict('1.26')]).toEqual([201, 400, 201])
  })

  it('are not in OpenAPI documents of earlier releases', async () => {
    const { ask } = await sampleServer({ emulate: '1.23' })
    const { json } = await ask('/openapi/v2')
    const { properties } = json.definitions['io.k8s.api.batch.v1.CronJobSpec']
    expect(Object.hasOwn(properties, 'timeZone')).toBe(false)
    expect(json.definitions).toHaveProperty(['io.k8s.api.batch.v1beta1.CronJob'])
    expect(json.definitions).toHaveProperty(['io.k8s.api.policy.v1beta1.PodSecurityPolicySpec'])
  })

  it('are required and have defaults and allowed values as documented for the release', async () => {
    const facts = async (emulate: string) => {
      const { ask } = await sampleServer({ emulate })
      const { definitions, paths } = (await ask('/openapi/v2')).json
      const { required } = definitions['io.k8s.api.apps.v1.StatefulSetSpec']
      const { scopeName } = definitions['io.k8s.api.core.v1.ScopedResourceSelectorRequirement'].properties
      const versions = definitions['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']['x-kubernetes-group-version-kind']
      const parameters = paths['/api/v1/namespaces/{namespace}/pods/{name}'].delete.parameters as { $ref?: string }[]
      return {
        serviceName: required.includes('serviceName'),
        classes: scopeName.enum.includes('VolumeAttributesClass'),
        devices: versions.some(
          ({ group, version }: { group: string; version: string }) => `${group}/${version}` === 'resource.k8s.io/v1beta2',
        ),
        ignore: parameters.some(({ $ref }) => $ref?.includes('ignoreStoreReadError') === true),
        emulation: Object.hasOwn(definitions['io.k8s.apimachinery.pkg.version.Info'].properties, 'emulationMajor'),
      }
    }
    expect(await facts('1.31')).toEqual({ serviceName: true, classes: false, devices: false, ignore: false, emulation: false })
    expect(await facts('1.32')).toEqual({ serviceName: true, classes: false, devices: false, ignore: true, emulation: false })
    expect(await facts('1.33')).toEqual({ serviceName: false, classes: true, devices: true, ignore: true, emulation: true })
  })

  it('of jobs have the defaults of the release', async () => {
    const defaults = async (emulate: string) => {
      const { ask } = await sampleServer({ emulate })
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } }
      const body = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' }, spec: { template } }
      const { spec } = (await ask(pathOf('batch/v1', 'jobs', 'default'), { method: 'POST', body })).json
      return [spec.manualSelector, spec.podReplacementPolicy]
    }
    expect(await defaults('1.28')).toEqual([undefined, undefined])
    expect(await defaults('1.29')).toEqual([false, 'TerminatingOrFailed'])
  })
})

describe('pods', () => {
  const pod = (securityContext = {}) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', generation: 7 },
    spec: { containers: [{ name: 'a', image: 'b', securityContext }] },
  })

  it('have a generation from 1.33 on', async () => {
    const generations = async (emulate: string) => {
      const { ask } = await sampleServer({ emulate })
      const path = pathOf('v1', 'pods', 'default')
      const { json } = await ask(path, { method: 'POST', body: pod() })
      const { containers } = json.spec
      const body = { ...json, spec: { ...json.spec, containers: [{ ...containers[0], image: 'c' }] } }
      const updated = await ask(`${path}/a`, { method: 'PUT', body })
      return [json, updated.json].map(({ metadata }) => metadata.generation)
    }
    expect([await generations('1.32'), await generations('1.33')]).toEqual([
      [undefined, undefined],
      [1, 2],
    ])
  })

  it('keep the default of procMount while its gate is off, and lose other values', async () => {
    const stored = async (emulate: string, procMount: string) => {
      const { ask } = await sampleServer({ emulate })
      const body = pod({ procMount })
      body.spec = { ...body.spec, hostUsers: false } as typeof body.spec
      const { json } = await ask(pathOf('v1', 'pods', 'default'), { method: 'POST', body })
      return json.spec.containers[0].securityContext.procMount
    }
    expect([await stored('1.32', 'Default'), await stored('1.32', 'Unmasked')]).toEqual(['Default', 'Default'])
  })
})

describe('access reviews', () => {
  it('have no selectors before 1.32, so that invalid selectors are not refused', async () => {
    const answer = async (emulate: string) => {
      const { ask } = await sampleServer({ emulate })
      const spec = { resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector: {} } }
      const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }
      const { status, json } = await ask('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { method: 'POST', body })
      return [status, json.spec?.resourceAttributes]
    }
    expect(await answer('1.31')).toEqual([201, { verb: 'list', resource: 'pods' }])
    expect((await answer('1.32'))[0]).toBe(422)
  })
})
