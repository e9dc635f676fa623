/** Ways to break a definition: Forklift's Host, with one version that has `spec` and `status` with a list. */

// biome-ignore lint/suspicious/noExplicitAny: manifests are modified member by member
export type Manifest = any

const versionOf = (manifest: Manifest) => manifest.spec.versions[0]
const rootOf = (manifest: Manifest) => versionOf(manifest).schema.openAPIV3Schema
const specOf = (manifest: Manifest) => rootOf(manifest).properties.spec
const member = (manifest: Manifest, name = 'name') => specOf(manifest).properties[name]
const conditions = (manifest: Manifest) => rootOf(manifest).properties.status.properties.conditions
const rules = (schema: Manifest, ...list: object[]) => {
  schema['x-kubernetes-validations'] = list
}
const second = (manifest: Manifest, changes: object) =>
  manifest.spec.versions.push({ ...structuredClone(versionOf(manifest)), name: 'v1', storage: false, ...changes })

const service = (changes: object, versions: string[] = ['v1']) => ({
  strategy: 'Webhook',
  webhook: { conversionReviewVersions: versions, clientConfig: changes },
})

export const breakages: readonly (readonly [name: string, (manifest: Manifest) => void])[] = [
  // Names
  ['another name', (m) => (m.metadata.name = 'others.forklift.konveyor.io')],
  ['a plural with a capital', (m) => (m.spec.names.plural = 'Hosts')],
  ['a list kind that is the kind', (m) => (m.spec.names.listKind = 'Host')],
  ['short names that are none', (m) => (m.spec.names.shortNames = ['OK', 'a b'])],
  ['a group without a dot', (m) => Object.assign(m, { metadata: { name: 'hosts.plain' }, spec: { ...m.spec, group: 'plain' } })],
  [
    'a protected group without approval',
    (m) => {
      m.spec.group = 'forklift.k8s.io'
      m.metadata = { name: 'hosts.forklift.k8s.io' }
    },
  ],
  ['an unknown scope', (m) => (m.spec.scope = 'Global')],
  // Versions
  ['no version', (m) => (m.spec.versions = [])],
  ['no storage version', (m) => (versionOf(m).storage = false)],
  ['two storage versions', (m) => second(m, { storage: true })],
  ['a version twice', (m) => second(m, { name: 'v1beta1' })],
  ['a version with a capital', (m) => (versionOf(m).name = 'V1')],
  ['a warning without deprecation', (m) => (versionOf(m).deprecationWarning = 'old')],
  ['a column of an unknown type', (m) => (versionOf(m).additionalPrinterColumns = [{ name: 'A', type: 'text', jsonPath: '.a' }])],
  ['a column without a path', (m) => (versionOf(m).additionalPrinterColumns = [{ name: 'A', type: 'string', jsonPath: '' }])],
  [
    'a scale that looks elsewhere',
    (m) =>
      (versionOf(m).subresources.scale = {
        specReplicasPath: '.status.a',
        statusReplicasPath: '.spec.b',
        labelSelectorPath: '.x',
      }),
  ],
  ['a selectable field that is not there', (m) => (versionOf(m).selectableFields = [{ jsonPath: '.spec.nothing' }])],
  ['a selectable object', (m) => (versionOf(m).selectableFields = [{ jsonPath: '.spec.provider' }])],
  ['conversion without a webhook', (m) => (m.spec.conversion = { strategy: 'Webhook' })],
  ['conversion by an unknown review', (m) => (m.spec.conversion = service({ url: 'https://a.example.com' }, ['v7']))],
  ['conversion without encryption', (m) => (m.spec.conversion = service({ url: 'http://a.example.com?x=y' }))],
  [
    'conversion by two',
    (m) => (m.spec.conversion = service({ url: 'https://a.example.com', service: { name: 'a', namespace: 'b' } })),
  ],
  // Structure
  ['no schema', (m) => delete versionOf(m).schema],
  ['a member without a type', (m) => delete specOf(m).type],
  ['a type that there is not', (m) => (member(m).type = 'text')],
  ['a root that is a list', (m) => (rootOf(m).type = 'array')],
  ['a list without items', (m) => delete conditions(m).items],
  ['items in a list', (m) => (conditions(m).items = [conditions(m).items])],
  ['properties beside additional ones', (m) => (specOf(m).additionalProperties = { type: 'string' })],
  ['types in a junctor', (m) => (member(m).anyOf = [{ type: 'string', description: 'x' }, { minLength: 1 }])],
  [
    'a junctor that knows more',
    (m) => (rootOf(m).allOf = [{ properties: { spec: { required: ['a'], properties: { a: { minLength: 1 } } } } }]),
  ],
  ['rules for metadata', (m) => (rootOf(m).properties.metadata.properties = { labels: { type: 'object' } })],
  ['references', (m) => (member(m).$ref = '#/definitions/name')],
  ['a pattern that is none', (m) => (member(m).pattern = '(')],
  ['unknown fields pruned by false', (m) => (specOf(m)['x-kubernetes-preserve-unknown-fields'] = false)],
  ['an embedded resource without a type', (m) => (specOf(m).properties.made = { 'x-kubernetes-embedded-resource': true })],
  [
    'integers or texts and anything',
    (m) => Object.assign(member(m), { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true }),
  ],
  ['unique items', (m) => (conditions(m).uniqueItems = true)],
  ['a list type that there is not', (m) => (conditions(m)['x-kubernetes-list-type'] = 'bag')],
  ['a map without keys', (m) => (conditions(m)['x-kubernetes-list-type'] = 'map')],
  [
    'keys that may be absent',
    (m) => Object.assign(conditions(m), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['reason', 'nothing'] }),
  ],
  ['a set of objects', (m) => (conditions(m)['x-kubernetes-list-type'] = 'set')],
  // Defaults
  ['a default of another type', (m) => (member(m).default = 1)],
  ['a default that is too short', (m) => Object.assign(member(m), { minLength: 3, default: 'a' })],
  ['a default with unknown fields', (m) => (member(m, 'provider').default = { name: 'a', other: 1 })],
  ['a default in a junctor', (m) => (member(m).anyOf = [{ default: 'a' }])],
  ['a default at the root', (m) => (rootOf(m).default = { spec: {} })],
  ['a default of the kind', (m) => (rootOf(m).properties.kind.default = 'Guest')],
  [
    'a default that a rule refuses',
    (m) => {
      member(m).default = 'a'
      rules(member(m), { rule: "self != 'a'", message: 'not a' })
    },
  ],
  // Rules
  ['a rule about what there is not', (m) => rules(specOf(m), { rule: 'self.nothing > 1' })],
  ['a rule that is no condition', (m) => rules(specOf(m), { rule: 'self.name' })],
  ['a rule with a slip', (m) => rules(specOf(m), { rule: 'self.name ==' })],
  ['an empty rule', (m) => rules(specOf(m), { rule: '' })],
  ['a message with a line break', (m) => rules(specOf(m), { rule: "self.name != ''", message: 'a\nb' })],
  ['a message that is a number', (m) => rules(specOf(m), { rule: "self.name != ''", messageExpression: '1 + 1' })],
  ['an unknown reason', (m) => rules(specOf(m), { rule: "self.name != ''", reason: 'Because' })],
  ['a place that there is not', (m) => rules(specOf(m), { rule: "self.name != ''", fieldPath: '.nothing' })],
  [
    'an old value that may be absent and is not asked for',
    (m) => rules(specOf(m), { rule: "self.name != ''", optionalOldSelf: true }),
  ],
  ['an old value of an item', (m) => rules(conditions(m).items, { rule: 'self == oldSelf' })],
  ['a rule that costs too much', (m) => rules(conditions(m), { rule: 'self.all(a, self.all(b, a.type != b.type || a == b))' })],
  [
    'rules that cost too much together',
    (m) => {
      member(m).maxLength = 1_000_000
      rules(member(m), ...Array.from({ length: 25 }, () => ({ rule: `self.matches('${'a'.repeat(180)}')` })))
    },
  ],
  ['a rule at the kind', (m) => rules(rootOf(m), { rule: "self.metadata.labels['a'] == 'b'" })],
]
