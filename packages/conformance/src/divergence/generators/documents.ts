import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Scenario, Step } from '../scenario.ts'
import { definitions } from '../types.ts'

const groupVersions = [...new Set(definitions.map(({ group, version }) => `${group}/${version}`))]
  .map((text) => text.split('/') as [string, string])
  .filter(([, version]) => !/alpha|beta/.test(version))

const discoveryForms = (as: string): readonly string[] => [
  `application/json;g=apidiscovery.k8s.io;v=v2;as=${as}`,
  `application/json;g=apidiscovery.k8s.io;v=v2beta1;as=${as}`,
  `application/json;g=apidiscovery.k8s.io;v=v2beta1;as=${as},application/json;g=apidiscovery.k8s.io;v=v2;as=${as}`,
  `application/json;g=apidiscovery.k8s.io;v=v2;as=${as},application/json`,
  `application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=${as}`,
  `application/yaml;g=apidiscovery.k8s.io;v=v2;as=${as}`,
  `application/json;g=apidiscovery.k8s.io;v=v3;as=${as}`,
  `application/json;g=apidiscovery.k8s.io;v=v2;as=${as};profile=nopeer`,
]
const plainForms = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf', '*/*', 'text/plain', '']
const openapiForms = [
  'application/json',
  'application/json',
  '*/*',
  '',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v3@v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v3.v1.0+protobuf',
  'application/yaml',
  'text/plain',
]
const tableForms = ['v1', 'v1', 'v1beta1'].map((version) => `application/json;as=Table;v=${version};g=meta.k8s.io`)

/** Discovery, OpenAPI, version and columns, with their conditional forms. They are the same for all scenarios, so nothing is created. */
export function generateDocuments(random: RandomChoices): Scenario {
  const steps: Step[] = []
  for (let i = 0; i < 5; i++) {
    const path = documentPath(random)
    const accept = random.pick(formsOf(path))
    const headers = accept === '' ? {} : { accept }
    const first: Step = { id: `document${i}`, method: 'GET', path, headers }
    steps.push(first)
    if (random.chance(35) && !listsGroups(first.path)) steps.push(conditional(first, i, random))
  }
  if (random.chance(40)) steps.push(...ofIndex(random))
  return { area: 'documents', namespace: false, steps }
}

function documentPath(random: RandomChoices): string {
  const [group, version] = random.pick(groupVersions)
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  switch (random.below(12)) {
    case 0:
    case 1:
      return '/apis'
    case 2:
      return '/api'
    case 3:
      return group === '' ? '/api' : `/apis/${group}`
    case 4:
    case 5:
      return root
    case 6:
      return `/openapi/v3${root}`
    case 7:
      return random.pick([
        '/openapi/v3',
        '/openapi/v3/api',
        '/openapi/v3/apis',
        '/openapi/v3/version',
        `/openapi/v3/apis/${group}`,
      ])
    case 8:
      return random.pick([
        '/version',
        '/version/',
        '/api/',
        '/apis/',
        '/',
        '/openapi',
        '/openapi/',
        '/openapi/v3/',
        '/openapi/v3/apis/x',
      ])
    case 9:
      return random.chance(25) ? '/openapi/v2' : root
    default:
      return columnsPath(random)
  }
}

/** An empty list of any kind: what its Table shows are the columns. */
function columnsPath(random: RandomChoices): string {
  const listed = definitions.filter(({ resource, version }) => resource.verbs.includes('list') && !/alpha|beta/.test(version))
  const { group, version, resource } = random.pick(listed)
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return `${root}/${resource.name}?fieldSelector=metadata.name%3D{id}`
}

function formsOf(path: string): readonly string[] {
  if (path.includes('?')) return tableForms
  if (path.startsWith('/openapi')) return openapiForms
  if (path === '/apis' || path === '/api') return [...discoveryForms('APIGroupDiscoveryList'), ...plainForms]
  return plainForms
}

/** Whether a document changes with the definitions that other scenarios make meanwhile, and with it its entity tag. */
function listsGroups(path: string): boolean {
  return /^\/(apis|openapi\/v[23])\/?$/.test(path)
}

/** The same document again, with a condition on the form that the client has. */
function conditional({ id, path, headers = {} }: Step, i: number, random: RandomChoices): Step {
  const tag = random.pick([`{${id}.headers.etag}`, `W/{${id}.headers.etag}`, `"x", {${id}.headers.etag}`, '"x"', '*'])
  return {
    id: `again${i}`,
    method: random.pick(['GET', 'GET', 'HEAD']),
    path,
    headers: { ...headers, [random.pick(['if-none-match', 'if-none-match', 'if-none-match', 'if-match'])]: tag },
  }
}

/** Documents of the OpenAPI index by their address, whose hash allows to keep them for ever. */
function ofIndex(random: RandomChoices): readonly Step[] {
  const name = random.pick(['api/v1', 'apis/apps/v1', 'apis/batch/v1', 'version'])
  return [
    { id: 'index', method: 'GET', path: '/openapi/v3' },
    { id: 'hashed', method: 'GET', path: `{index.paths.${name}.serverRelativeURL}` },
    { id: 'stale', method: 'GET', path: `/openapi/v3/${name}?hash=${random.pick(['0', '', 'x%20y'])}` },
  ]
}
