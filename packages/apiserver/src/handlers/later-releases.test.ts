import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { definitionsPath, eventually, widgetDefinition } from '../custom-resources/testing/widgets.ts'
import { sampleServer } from '../testing/sample-server.ts'

/** Answers that moved after 1.33. */

const maps = '/api/v1/namespaces/default/configmaps'
const serverAt = (version: string) => sampleServer({ features: createFeatures(version) })

async function patched(version: string, type: string, text: string, name = 'gone') {
  const { ask } = await serverAt(version)
  const { status, json } = await ask(`${maps}/${name}?fieldManager=m`, {
    method: 'PATCH',
    text,
    headers: { 'content-type': `application/${type}` },
  })
  return [status, json.message]
}

describe('malformed patches', () => {
  it.each(['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json'])(
    'of type %s are refused before the object is read, from 1.37 on',
    async (type) => {
      expect((await patched('1.36', type, '{'))[0]).toBe(404)
      expect(await patched('1.37', type, '{')).toEqual([400, 'invalid JSON patch'])
    },
  )

  it('of YAML have other texts from 1.37 on', async () => {
    const list =
      'error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}'
    expect(await patched('1.36', 'apply-patch+yaml', '[]')).toEqual([400, `error decoding YAML: ${list}`])
    expect(await patched('1.37', 'apply-patch+yaml', '[]')).toEqual([400, `error decoding patch: ${list}`])
    expect((await patched('1.36', 'apply-patch+yaml', 'a: {'))[1]).toMatch(
      /^error decoding YAML: error converting YAML to JSON: yaml: /,
    )
    expect((await patched('1.37', 'apply-patch+yaml', 'a: {'))[1]).toMatch(/^error encoding patch: yaml: /)
  })
})

it('prints lists of parameters as JSON from 1.34 on', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  const texts = []
  for (const version of ['1.33', '1.34']) {
    const { ask } = await serverAt(version)
    texts.push((await ask(`${maps}?dryRun=Some`, { method: 'POST', body })).json.details.causes[0].message)
    texts.push((await ask(`${maps}/a`, { method: 'DELETE', body: { dryRun: ['Some'] } })).json.details.causes[0].message)
  }
  const before = 'Unsupported value: []string{"Some"}: supported values: "All"'
  const after = 'Unsupported value: ["Some"]: supported values: "All"'
  expect(texts).toEqual([before, before, after, after])
})

it('names the line of the scheme of the release', async () => {
  const body = { apiVersion: 'v9', kind: 'ConfigMap', metadata: { name: 'a' } }
  const lines = []
  for (const version of ['1.34', '1.35']) {
    const { ask } = await serverAt(version)
    lines.push(/scheme.go:(\d+)/.exec((await ask(maps, { method: 'POST', body })).text)?.[1])
  }
  expect(lines).toEqual(['110', '111'])
})

it('refuses a continue token of a watch that streams its list by default, from 1.34 on', async () => {
  const { ask } = await serverAt('1.34')
  const { status, json } = await ask(`${maps}?watch=1&continue=abc&timeoutSeconds=1`)
  expect([status, json.details.kind, json.details.causes]).toEqual([
    422,
    'ListOptions',
    [
      {
        reason: 'FieldValueForbidden',
        message: 'Forbidden: resourceVersionMatch is forbidden when continue is provided',
        field: 'resourceVersionMatch',
      },
    ],
  ])
})

it('states what is wrong with the options of a deletion, from 1.35 on', async () => {
  const { ask } = await serverAt('1.35')
  const refusal = async (text: string, path = '/none') => {
    const { status, json } = await ask(`${maps}${path}`, { method: 'DELETE', text })
    return [status, json.message]
  }
  const unread = "couldn't get version/kind; json parse error: unexpected end of JSON input"
  for (const path of ['/none', '']) expect(await refusal('{', path)).toEqual([400, unread])
  expect(await refusal('{"gracePeriodSeconds":"x"}')).toEqual([
    400,
    'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
  ])
  const unknown = 'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'
  expect(await refusal('{"kind":"Pod","apiVersion":"v1"}')).toEqual([400, unknown])
  const other = 'converting (v1.CreateOptions) to (v1.DeleteOptions): unknown conversion'
  expect(await refusal('{"kind":"CreateOptions","apiVersion":"apps/v1"}')).toEqual([400, other])
  expect((await refusal('{"propagationPolicy":"X"}'))[0]).toBe(422)
  const { ask: before } = await serverAt('1.34')
  const { json } = await before(`${maps}/none`, { method: 'DELETE', text: '{' })
  expect(json.message).toBe(`the object provided is unrecognized (must be of type DeleteOptions): ${unread} ({)`)
})

it('forbids instances of a definition that is being deleted, from 1.34 on', async () => {
  const { ask } = await serverAt('1.34')
  await ask(definitionsPath, { method: 'POST', body: widgetDefinition([{ schema: { openAPIV3Schema: { type: 'object' } } }]) })
  const widgets = '/apis/g.example.com/v1/namespaces/default/widgets'
  const widget = (metadata: object) => ({ apiVersion: 'g.example.com/v1', kind: 'Widget', metadata })
  const held = widget({ name: 'held', finalizers: ['example.com/hold'] })
  await eventually(
    () => ask(widgets, { method: 'POST', body: held }),
    ({ status }) => status === 201,
  )
  await ask(`${definitionsPath}/widgets.g.example.com`, { method: 'DELETE' })
  const refused = await eventually(
    () => ask(`${widgets}?dryRun=All`, { method: 'POST', body: widget({ name: 'late' }) }),
    ({ status }) => status !== 201,
  )
  expect([refused.status, refused.json.message]).toEqual([
    403,
    'widgets.g.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
  ])
  const applied = await ask(`${widgets}/applied?fieldManager=m`, {
    ...{ method: 'PATCH', body: widget({ name: 'applied' }), headers: { 'content-type': 'application/apply-patch+yaml' } },
  })
  expect([applied.status, applied.json.message]).toEqual([403, refused.json.message.replace('late', 'applied')])
  expect((await ask(`${widgets}/put`, { method: 'PUT', body: widget({ name: 'put' }) })).status).toBe(404)
})

it.each([
  ['a/b/c', /a qualified name must/, /a valid label key must/],
  [`a=${'v'.repeat(64)}`, /no more than 63 characters$/, /no more than 63 bytes$/],
])('states the errors of label selector %s as the release does', async (selector, before, after) => {
  for (const [version, text] of [
    ['1.34', before],
    ['1.35', after],
  ] as const) {
    const { ask } = await serverAt(version)
    for (const query of ['', 'watch=1&']) {
      const { status, json } = await ask(`${maps}?${query}labelSelector=${encodeURIComponent(selector)}`)
      expect([status, json.message]).toEqual([400, expect.stringMatching(text)])
      expect(json.message).toMatch(/^unable to parse requirement: /)
    }
  }
})

it('limits label values to bytes from 1.35 on', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { a: 'v'.repeat(64) } } }
  const texts = []
  for (const version of ['1.34', '1.35']) {
    const { ask } = await serverAt(version)
    texts.push((await ask(maps, { method: 'POST', body })).json.details.causes[0].message.slice(-13))
  }
  expect(texts).toEqual(['63 characters', 'than 63 bytes'])
})

it('names embedded structs in errors of decoding from 1.35 on', async () => {
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { volumes: [{ name: 'v', nfs: 'x' }] } }
  const texts = []
  for (const version of ['1.34', '1.35']) {
    const { ask } = await serverAt(version)
    const { json } = await ask('/api/v1/namespaces/default/pods', { method: 'POST', body })
    texts.push(/Go struct field (\S+) /.exec(json.message)?.[1])
  }
  expect(texts).toEqual(['Volume.spec.volumes.nfs', 'Volume.spec.volumes.VolumeSource.nfs'])
})

it('states the attributes of access reviews at their spec from 1.37 on', async () => {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const type = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' }
  const both = { resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/x', verb: 'get' } }
  const causes = async (version: string, spec: object) => {
    const { ask } = await serverAt(version)
    const { field, message } = (await ask(path, { method: 'POST', body: { ...type, spec } })).json.details.causes[0]
    return `${field}: ${message}`
  }
  const exactlyOne = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  expect(await causes('1.33', {})).toBe(`spec.resourceAttributes: Invalid value: "null": ${exactlyOne}`)
  expect(await causes('1.34', {})).toBe(`spec.resourceAttributes: Invalid value: null: ${exactlyOne}`)
  expect(await causes('1.37', {})).toBe(`spec: Invalid value: null: ${exactlyOne}`)
  expect(await causes('1.36', both)).toContain('{"Path":"/x","Verb":"get"}: cannot be specified in combination')
  expect(await causes('1.37', both)).toBe(`spec: Invalid value: {"Path":"/x","Verb":"get"}: ${exactlyOne}`)
})

it('resets the metadata of applied statuses of custom resources from 1.36 on, and not that of definitions', async () => {
  const owned = async (version: string) => {
    const { ask } = await serverAt(version)
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const definition = widgetDefinition([{ schema: { openAPIV3Schema: schema }, subresources: { status: {} } }])
    await ask(definitionsPath, { method: 'POST', body: definition })
    const widgets = '/apis/g.example.com/v1/namespaces/default/widgets'
    const widget = { apiVersion: 'g.example.com/v1', kind: 'Widget', metadata: { name: 'w' } }
    await eventually(
      () => ask(widgets, { method: 'POST', body: widget }),
      ({ status }) => status === 201,
    )
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const applied = (path: string, object: object) =>
      ask(`${path}/status?fieldManager=m`, {
        method: 'PATCH',
        headers,
        body: { ...object, metadata: { ...(object as typeof widget).metadata, labels: { l: 'v' } }, status: {} },
      })
    const fields = ({ json }: Awaited<ReturnType<typeof applied>>) =>
      (json.metadata.managedFields as { manager: string; fieldsV1: object }[])
        .filter(({ manager }) => manager === 'm')
        .some(({ fieldsV1 }) => Object.hasOwn(fieldsV1, 'f:metadata'))
    const custom = fields(await applied(`${widgets}/w`, widget))
    const { apiVersion, kind, metadata } = definition
    return [custom, fields(await applied(`${definitionsPath}/widgets.g.example.com`, { apiVersion, kind, metadata }))]
  }
  expect([await owned('1.35'), await owned('1.36')]).toEqual([
    [true, false],
    [false, true],
  ])
})
