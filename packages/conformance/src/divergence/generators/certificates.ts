import { generateKeyPairSync } from 'node:crypto'
import type { RandomChoices } from '@krmkit/base/random-choices'
import { createCertificateRequest } from '@krmkit/certificates'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { write } from './subresources.ts'

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const path = `${collection}/{id}-a`

/** Certificate signing requests with real PKCS#10 content for every signer, by several users, and their approval, denial and status. */
export function generateCertificates(random: RandomChoices): Scenario {
  const steps: Step[] = []
  for (let i = 0; i < 4; i++)
    steps.push({
      id: `try${i}`,
      as: random.pick(['admin', 'admin', 'alice', 'node1']),
      method: 'POST',
      path: collection,
      query: [['dryRun', 'All'], ...(random.chance(30) ? [['fieldValidation', 'Strict'] as [string, string]] : [])],
      body: { json: requestObject(random, `{id}-t${i}`, 50) },
    })
  const object = requestObject(random, '{id}-a', 0)
  steps.push({ id: 'create', method: 'POST', path: collection, body: { json: object } })
  for (let i = 0; i < 9; i++) steps.push(step(random, i, object))
  return { area: 'certificates', namespace: false, steps }
}

function step(random: RandomChoices, i: number, object: JsonObject): Step {
  const id = `step${i}`
  const headers = random.chance(60) ? { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } : {}
  switch (random.below(9)) {
    case 0:
      return { id, method: 'GET', path: path + random.pick(['', '/approval', '/status']), headers }
    case 1:
      return {
        id,
        method: 'GET',
        path: collection,
        headers,
        query: [['fieldSelector', `metadata.name={id}-a,${random.pick(fields)}`]],
      }
    case 2: {
      const spec = { ...(object['spec'] as JsonObject), ...random.pick<JsonObject>(specChanges) }
      return write(random, id, path, { base: object, change: { spec } })
    }
    default: {
      const conditions = Array.from({ length: random.pick([0, 1, 1, 1, 2]) }, () => condition(random))
      const status: Record<string, JsonValue> = random.chance(90) ? { conditions } : {}
      if (random.chance(30)) status['certificate'] = random.pick(certificates)
      const at = random.pick(['/approval', '/approval', '/approval', '/status', '/status'])
      return { ...write(random, id, path + at, { base: object, change: { status: status as JsonObject } }) }
    }
  }
}

const fields = [
  'spec.signerName=kubernetes.io/kube-apiserver-client',
  'spec.signerName!=x',
  'spec.username=admin',
  'metadata.name!=x',
]

const specChanges: readonly JsonObject[] = [
  { usages: ['client auth'] },
  { signerName: 'example.com/x' },
  { expirationSeconds: 700 },
  { username: 'other' },
  { groups: ['g'] },
  { uid: 'x' },
  { extra: { a: ['b'] } },
  { request: 'YQ==' },
]

function condition(random: RandomChoices): JsonObject {
  return {
    type: random.pick(['Approved', 'Approved', 'Denied', 'Failed', 'Other']),
    status: random.pick(['True', 'True', 'True', 'True', 'False']),
    ...(random.chance(60) ? { reason: random.pick(['r', 's']), message: 'm' } : {}),
    ...(random.chance(15) ? { lastUpdateTime: '2020-01-01T00:00:00Z' } : {}),
    ...(random.chance(15) ? { lastTransitionTime: random.pick(['2020-01-01T00:00:00Z', null]) } : {}),
  }
}

const signers = [
  'kubernetes.io/kube-apiserver-client',
  'kubernetes.io/kube-apiserver-client-kubelet',
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/legacy-unknown',
  'example.com/signer',
]
const oddSigners = [
  'kubernetes.io/other',
  'example.com',
  'a/b/c',
  'Example.com/a',
  'example.com/',
  '/a',
  '',
  'example.com/A b',
  'a.b/..',
]
const usages = [
  'client auth',
  'digital signature',
  'key encipherment',
  'server auth',
  'signing',
  'any',
  'cert sign',
  'crl sign',
  'ocsp signing',
  'netscape sgc',
  'code signing',
]

function requestObject(random: RandomChoices, name: string, damage: number): JsonObject {
  const odd = () => random.chance(damage / 2)
  const spec: Record<string, JsonValue> = {
    request: odd() ? random.pick(oddRequests(random)) : base64(requestPem(random)),
    signerName: odd() ? random.pick(oddSigners) : random.pick(signers),
    usages: odd() ? random.pick<JsonValue>([[], ['x'], ['client auth', 'client auth'], null, ['']]) : someUsages(random),
  }
  if (random.chance(40)) spec['expirationSeconds'] = random.pick([600, 3600, 31_536_000, 2_147_483_647])
  if (odd()) spec['expirationSeconds'] = random.pick<JsonValue>([599, 0, -1, 2_147_483_648, '600', null, 1.5])
  // Servers set the members of the requestor, whatever a client sends.
  if (random.chance(30)) Object.assign(spec, random.pick<JsonObject>(specChanges.slice(3, 7)))
  if (odd()) Reflect.deleteProperty(spec, random.pick(['request', 'signerName', 'usages']))
  const metadata = { name, ...(random.chance(20) ? { labels: { a: 'b' } } : {}) }
  const status = random.chance(20) ? { status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'YQ==' } } : {}
  return { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata, spec, ...status }
}

function someUsages(random: RandomChoices): string[] {
  return [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(usages)))]
}

const subjects = [
  { commonName: 'jane', organizations: ['dev'] },
  { commonName: 'system:node:node-1', organizations: ['system:nodes'] },
  { commonName: 'system:node:node-2', organizations: ['system:nodes'] },
  { commonName: 'system:node:', organizations: ['system:nodes'] },
  { commonName: 'jane', organizations: ['a', 'b', 'c'] },
  { commonName: '' },
]
const names = [
  {},
  {},
  { dnsNames: ['a.example.com'] },
  { dnsNames: ['node-1'], ipAddresses: ['10.0.0.1'] },
  { emailAddresses: ['a@b.example'] },
  { uris: ['https://a.example/'] },
]

/** Made once: their content differs from run to run, not what they are. */
const keys = new Map<string, string>()
const algorithms = ['P-256', 'P-256', 'P-384', 'P-521', 'rsa-2048', 'rsa-1024']

function keyOf(algorithm: string): string {
  const known = keys.get(algorithm)
  if (known !== undefined) return known
  const pair = algorithm.startsWith('rsa-')
    ? generateKeyPairSync('rsa', { modulusLength: Number(algorithm.slice(4)) })
    : generateKeyPairSync('ec', { namedCurve: algorithm })
  const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string
  keys.set(algorithm, pem)
  return pem
}

function requestPem(random: RandomChoices): string {
  const subject = random.pick(subjects)
  return createCertificateRequest({ subject, names: random.pick<object>(names), key: keyOf(random.pick(algorithms)) }).request
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function oddRequests(random: RandomChoices): readonly JsonValue[] {
  const pem = requestPem(random)
  const lines = pem.trim().split('\n')
  const broken = Buffer.from(lines.slice(1, -1).join(''), 'base64')
  broken[broken.length - 5] = (broken[broken.length - 5] ?? 0) ^ 1
  const wrapped = (bytes: Buffer) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
  const texts = [
    '',
    'x',
    pem.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'),
    pem.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'),
    pem + pem,
    `text\n${pem}text`,
    pem.trim(),
    pem.replaceAll('\n', '\r\n'),
    pem.replace('-----\n', '-----\nA: b\n\n'),
    pem.slice(0, -20),
    wrapped(broken),
    wrapped(broken.subarray(0, 40)),
    wrapped(Buffer.concat([broken, Buffer.from([0])])),
    wrapped(Buffer.from('a')),
    wrapped(Buffer.alloc(0)),
  ]
  return [...texts.map(base64), '%', 'YQ', 1, null]
}

const certificatePem = '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n'
/** Without the empty one, which kube-apiserver stores as another version, see D28. */
const certificates: readonly string[] = [
  'x',
  'YQ==',
  base64(certificatePem),
  base64(certificatePem.replaceAll('CERTIFICATE', 'X')),
  base64(`a\n${certificatePem}`),
]
