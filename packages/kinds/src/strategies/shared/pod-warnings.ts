/** Warnings about pods: deprecated members and likely mistakes. */
import type { ApiObject, DeepReadonly, Features, NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type {
  Container,
  ContainerPort,
  Pod,
  PodSpec,
  PodTemplateSpec,
  Volume,
  VolumeResourceRequirements,
} from '../../types/core-v1.generated.ts'
import { addressWarnings } from './address-warnings.ts'
import { keyWarnings, nodeLabelWarning, nodeTermWarnings } from './node-labels.ts'
import { overlapWarnings } from './path-warnings.ts'
import { amount, isWhole } from './quantities.ts'
import { isEmpty, isSet, own, type R, sortedKeys } from './values.ts'

type Annotations = Readonly<Record<string, string>> | undefined

const empty: R<PodSpec> = { containers: [] }

/** Warnings for a new pod; updates give none. */
export function podWarnings(pod: DeepReadonly<Pod>, settings: WarningSettings): string[] {
  return specWarnings({ spec: pod.spec ?? empty, annotations: pod.metadata.annotations, at: '' }, settings, true)
}

interface WarningSettings {
  readonly profile: NamingProfile
  readonly features: Features
}

/** A controller with a pod template. */
interface TemplateChange extends WarningSettings {
  readonly template: R<PodTemplateSpec> | undefined
  /** Path of the template, such as `spec.template`. */
  readonly at: string
}

/** Warnings for the template of a new controller, or of one whose generation increased. */
export function podTemplateWarnings(
  object: DeepReadonly<ApiObject>,
  old: DeepReadonly<ApiObject> | undefined,
  { template, at, ...settings }: TemplateChange,
): string[] {
  if (old !== undefined && object.metadata.generation === old.metadata.generation) return []
  const subject = { spec: template?.spec ?? empty, annotations: template?.metadata?.annotations, at: `${at}.` }
  return specWarnings(subject, settings, old === undefined)
}

interface Subject {
  readonly spec: R<PodSpec>
  readonly annotations: Annotations
  /** Empty, or the path of the template with a trailing dot. */
  readonly at: string
}

function specWarnings(subject: Subject, { profile, features }: WarningSettings, created: boolean): string[] {
  const { spec, at } = subject
  const path = `${at}spec`
  const texts: string[] = []
  for (const key of sortedKeys(spec.nodeSelector)) warnLabel(texts, `${path}.nodeSelector[${key}]`, key, profile)
  warnAffinity(texts, spec, { path, profile })
  for (const [i, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const here = `${path}.topologySpreadConstraints[${i}]`
    texts.push(...keyWarnings(`${here}.topologyKey`, constraint.topologyKey, profile))
    if (!isSet(constraint.labelSelector)) texts.push(`${here}.labelSelector: a null labelSelector results in matching no pod`)
  }
  warnAnnotations(texts, subject, profile)
  warnDuplicates(
    texts,
    (spec.hostAliases ?? []).map((alias) => alias.ip),
    (i, ip) => `${path}.hostAliases[${i}].ip: duplicate IP "${ip}"`,
  )
  warnPullSecrets(texts, spec, path)
  for (const [i, volume] of (spec.volumes ?? []).entries()) warnVolume(texts, volume, { path: `${path}.volumes[${i}]`, features })
  if (!isSet(spec.securityContext?.seccompProfile))
    warnAnnotation(texts, subject, `seccomp.security.alpha.${profile.domain}/pod`, seccompText)
  for (const name of ['initContainers', 'containers'] as const) {
    for (const [i, container] of (spec[name] ?? []).entries()) {
      warnProfiles(texts, subject, container, profile)
      warnContainer(texts, container, `${path}.${name}[${i}]`)
    }
  }
  warnPorts(texts, spec, path)
  for (const name of byteResources) warnFraction(texts, spec.overhead, { name, path: `${path}.overhead` })
  if (created && Number(spec.terminationGracePeriodSeconds ?? 0) < 0) {
    texts.push(`${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`)
  }
  for (const [i, server] of (spec.dnsConfig?.nameservers ?? []).entries())
    texts.push(...addressWarnings(`${path}.dnsConfig.nameservers[${i}]`, server))
  for (const [i, { ip }] of (spec.hostAliases ?? []).entries()) texts.push(...addressWarnings(`${path}.hostAliases[${i}].ip`, ip))
  texts.push(...overlapWarnings(spec.volumes))
  return texts
}

function warnLabel(texts: string[], path: string, label: string | undefined, profile: NamingProfile): void {
  const text = nodeLabelWarning(label ?? '', profile)
  if (text !== undefined) texts.push(`${path}: ${text}`)
}

function warnAffinity(
  texts: string[],
  spec: R<PodSpec>,
  { path, profile }: { readonly path: string; readonly profile: NamingProfile },
): void {
  const nodes = spec.affinity?.nodeAffinity
  const required = nodes?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const place = `${path}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`
  for (const [i, term] of required.entries()) texts.push(...nodeTermWarnings(`${place}[${i}]`, term, { profile }))
  const preferred = `${path}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution`
  for (const [i, term] of (nodes?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    texts.push(...nodeTermWarnings(`${preferred}[${i}].preference`, term.preference, { profile, checksValues: true }))
  }
  for (const name of ['podAffinity', 'podAntiAffinity'] as const) {
    const terms = spec.affinity?.[name]
    for (const [i, term] of (terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      if (isSet(term.labelSelector)) continue
      const where = `${path}.affinity.${name}.requiredDuringSchedulingIgnoredDuringExecution[${i}].labelSelector`
      texts.push(`${where}: a null labelSelector results in matching no pod`)
    }
    for (const [i, weighted] of (terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      if (isSet(weighted.podAffinityTerm?.labelSelector)) continue
      const where = `${path}.affinity.${name}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm.labelSelector`
      texts.push(`${where}: a null labelSelector results in matching no pod`)
    }
  }
}

/** Deprecated annotations, in the order of the warnings. */
const deprecatedAnnotations: readonly (readonly [string, string])[] = [
  ['scheduler.alpha.DOMAIN/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.DOMAIN/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.DOMAIN/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
]
const seccompText = 'non-functional in v1.27+; use the "seccompProfile" field instead'

function warnAnnotations(texts: string[], subject: Subject, { domain }: NamingProfile): void {
  for (const [name, text] of deprecatedAnnotations) warnAnnotation(texts, subject, name.replace('DOMAIN', domain), text)
}

/** Warns of an annotation when it exists. */
function warnAnnotation(texts: string[], { annotations, at }: Subject, key: string, text: string): void {
  if (own(annotations, key) !== undefined) texts.push(`${at}metadata.annotations[${key}]: ${text}`)
}

/** Annotations that give profiles which no field gives. A pod itself is warned of AppArmor when its field is set. */
function warnProfiles(texts: string[], subject: Subject, container: R<Container>, { domain }: NamingProfile): void {
  const { securityContext } = container
  if (!isSet(securityContext?.seccompProfile))
    warnAnnotation(texts, subject, `container.seccomp.security.alpha.${domain}/${container.name}`, seccompText)
  if (subject.at === '' || isSet(securityContext?.appArmorProfile) || isSet(subject.spec.securityContext?.appArmorProfile)) return
  const text = 'deprecated since v1.30; use the "appArmorProfile" field instead'
  warnAnnotation(texts, subject, `container.apparmor.security.beta.${domain}/${container.name}`, text)
}

function warnPullSecrets(texts: string[], spec: R<PodSpec>, path: string): void {
  const names = new Set<string>()
  for (const [i, secret] of (spec.imagePullSecrets ?? []).entries()) {
    const name = secret.name ?? ''
    if (name === '') texts.push(`${path}.imagePullSecrets[${i}].name: invalid empty name "${name}"`)
    if (names.has(name)) texts.push(`${path}.imagePullSecrets[${i}].name: duplicate name "${name}"`)
    names.add(name)
  }
}

/** Deprecated volume sources, in the order of the warnings. */
export const deprecatedSources: readonly (readonly [string, string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo: deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO: deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker: deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS: deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte: deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs: deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs: deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd: deprecated in v1.28, non-functional in v1.31+'],
]

function warnVolume(
  texts: string[],
  volume: R<Volume>,
  { path, features }: { readonly path: string; readonly features: Features },
): void {
  for (const [name, text] of deprecatedSources) {
    if (!isSet(volume[name as keyof Volume])) continue
    const works = name === 'gitRepo' && gateEnabled('GitRepoVolumeDriver', features)
    texts.push(`${path}.${works ? 'gitRepo: deprecated in v1.11' : text}`)
  }
}

function warnContainer(texts: string[], container: R<Container>, path: string): void {
  for (const name of byteResources) {
    warnFraction(texts, container.resources?.limits, { name, path: `${path}.resources.limits` })
    warnFraction(texts, container.resources?.requests, { name, path: `${path}.resources.requests` })
  }
  const names = (container.env ?? []).map((variable) => variable.name)
  warnDuplicates(texts, names, (i, name) => {
    return `${path}.env[${i}]: hides previous definition of "${name}", which may be dropped when using apply`
  })
}

/** Warns of ports that several containers have, or that one has twice. */
function warnPorts(texts: string[], spec: R<PodSpec>, path: string): void {
  const ports = (['initContainers', 'containers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap((container, i) =>
      (container.ports ?? []).map((port, j) => ({ ...port, at: `${path}.${list}[${i}].ports[${j}]` })),
    ),
  )
  const seen = new Map<string, (typeof ports)[number][]>()
  for (const port of ports) {
    const key = `${port.containerPort}/${port.protocol ?? ''}`
    const others = seen.get(key) ?? []
    for (const other of others) {
      const relation = portRelation(port, other)
      if (relation !== undefined) texts.push(`${port.at}: ${relation} port definition with ${other.at}`)
    }
    seen.set(key, [...others, port])
  }
  const names = new Map<string, string>()
  for (const { name = '', at } of ports) {
    const first = names.get(name)
    if (name === '') continue
    if (first === undefined) names.set(name, at)
    else {
      const effect = `services and probes that select ports by name will use ${first}`
      texts.push(`${at}: duplicate port name "${name}" with ${first}, ${effect}`)
    }
  }
}

function portRelation(a: R<ContainerPort>, b: R<ContainerPort>): string | undefined {
  const [hostA, hostB] = [a.hostPort ?? 0, b.hostPort ?? 0]
  const [addressA, addressB] = [a.hostIP ?? '', b.hostIP ?? '']
  if (addressA === addressB && hostA === hostB) return 'duplicate'
  if (hostA === 0 || hostB === 0) return 'overlapping'
  return hostA === hostB && (addressA === '') !== (addressB === '') ? 'dangerously ambiguous' : undefined
}

/** Resources of a container that are counted in bytes. */
const byteResources = ['memory', 'ephemeral-storage']

/** Warns of fractional bytes in a claim. */
export function warnStorage(texts: string[], resources: R<VolumeResourceRequirements> | undefined, path: string): void {
  warnFraction(texts, resources?.requests, { name: 'storage', path: `${path}.requests` })
  warnFraction(texts, resources?.limits, { name: 'storage', path: `${path}.limits` })
}

function warnFraction(
  texts: string[],
  amounts: Readonly<Record<string, string>> | undefined,
  { name, path }: { readonly name: string; readonly path: string },
): void {
  const text = own(amounts, name)
  if (text === undefined || isWhole(amount(text))) return
  texts.push(`${path}[${name}]: fractional byte value "${amount(text).toString()}" is invalid, must be an integer`)
}

function warnDuplicates(texts: string[], values: readonly string[], text: (i: number, value: string) => string): void {
  const seen = new Set<string>()
  for (const [i, value] of values.entries()) {
    if (isEmpty(value)) continue
    if (seen.has(value)) texts.push(text(i, value))
    seen.add(value)
  }
}
