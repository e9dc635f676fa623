/** Warnings about pods: deprecated members and likely mistakes. */
import type { ApiObject, DeepReadonly, Features, NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote } from '@krmkit/meta/go-text'
import type {
  Container,
  EnvVar,
  Pod,
  PodAffinity,
  PodSpec,
  PodTemplateSpec,
  Volume,
  VolumeResourceRequirements,
} from '../../types/core-v1.generated.ts'
import { addressWarnings } from './address-warnings.ts'
import { deprecatedKeys, keyWarnings, nodeLabelWarning, warnNodeTerm } from './node-labels.ts'
import { warnOverlaps } from './path-warnings.ts'
import { warnPorts } from './port-warnings.ts'
import { amount, isWhole } from './quantities.ts'
import { isEmpty, isSet, own, type R } from './values.ts'
import { collectWarnings } from './warning-list.ts'

type Annotations = Readonly<Record<string, string>> | undefined

const empty: R<PodSpec> = { containers: [] }

/** Warnings for a new pod; updates give none. */
export function podWarnings(pod: DeepReadonly<Pod>, settings: WarningSettings): string[] {
  const subject = { spec: pod.spec ?? empty, annotations: pod.metadata.annotations, at: '' }
  return collectWarnings((texts) => warnSpec(texts, subject, settings))
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
  return collectWarnings((texts) => warnSpec(texts, subject, settings))
}

interface Subject {
  readonly spec: R<PodSpec>
  readonly annotations: Annotations
  /** Empty, or the path of the template with a trailing dot. */
  readonly at: string
}

/** In the order of kube-apiserver. */
function warnSpec(texts: string[], subject: Subject, { profile, features }: WarningSettings): void {
  const { spec, at } = subject
  const path = `${at}spec`
  for (const key of deprecatedKeys(spec.nodeSelector, profile)) warnLabel(texts, `${path}.nodeSelector[${key}]`, key, profile)
  warnNodeAffinity(texts, spec, { path, profile })
  for (const [i, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const here = `${path}.topologySpreadConstraints[${i}]`
    texts.push(...keyWarnings(`${here}.topologyKey`, constraint.topologyKey, profile))
    if (!isSet(constraint.labelSelector)) texts.push(`${here}.labelSelector: ${nullSelector}`)
  }
  warnAnnotations(texts, subject, profile)
  for (const [i, volume] of (spec.volumes ?? []).entries()) warnVolume(texts, volume, { path: `${path}.volumes[${i}]`, features })
  warnOverlaps(texts, spec.volumes)
  warnRepeated(texts, spec.hostAliases, { at: `${path}.hostAliases`, member: 'ip' })
  warnRepeated(texts, spec.imagePullSecrets, { at: `${path}.imagePullSecrets`, member: 'name' })
  for (const [i, { name }] of (spec.imagePullSecrets ?? []).entries())
    if (isEmpty(name)) texts.push(`${path}.imagePullSecrets[${i}].name: invalid empty name ""`)
  for (const name of byteResources) warnFraction(texts, spec.overhead, { name, path: `${path}.overhead` })
  if (!isSet(spec.securityContext?.seccompProfile))
    warnAnnotation(texts, subject, `seccomp.security.alpha.${profile.domain}/pod`, seccompText)
  for (const name of ['initContainers', 'containers'] as const) {
    for (const [i, container] of (spec[name] ?? []).entries()) {
      warnProfiles(texts, subject, container, profile)
      warnContainer(texts, container, `${path}.${name}[${i}]`)
    }
  }
  warnPorts(texts, spec, path)
  if (Number(spec.terminationGracePeriodSeconds ?? 0) < 0)
    texts.push(`${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`)
  for (const name of ['podAffinity', 'podAntiAffinity'] as const)
    warnPodAffinity(texts, spec.affinity?.[name], `${path}.affinity.${name}`)
  for (const [i, server] of (spec.dnsConfig?.nameservers ?? []).entries())
    texts.push(...addressWarnings(`${path}.dnsConfig.nameservers[${i}]`, server))
  for (const [i, { ip }] of (spec.hostAliases ?? []).entries()) texts.push(...addressWarnings(`${path}.hostAliases[${i}].ip`, ip))
}

const nullSelector = 'a null labelSelector results in matching no pod'

function warnLabel(texts: string[], path: string, label: string | undefined, profile: NamingProfile): void {
  const text = nodeLabelWarning(label ?? '', profile)
  if (text !== undefined) texts.push(`${path}: ${text}`)
}

function warnNodeAffinity(
  texts: string[],
  spec: R<PodSpec>,
  { path, profile }: { readonly path: string; readonly profile: NamingProfile },
): void {
  const nodes = spec.affinity?.nodeAffinity
  const required = nodes?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const place = `${path}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`
  for (const [i, term] of required.entries()) warnNodeTerm(texts, term, { path: `${place}[${i}]`, profile })
  const preferred = `${path}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution`
  for (const [i, term] of (nodes?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    warnNodeTerm(texts, term.preference, { path: `${preferred}[${i}].preference`, profile, checksValues: true })
  }
}

function warnPodAffinity(texts: string[], terms: R<PodAffinity> | undefined, path: string): void {
  for (const [i, term] of (terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    if (isSet(term.labelSelector)) continue
    texts.push(`${path}.requiredDuringSchedulingIgnoredDuringExecution[${i}].labelSelector: ${nullSelector}`)
  }
  for (const [i, weighted] of (terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    if (isSet(weighted.podAffinityTerm?.labelSelector)) continue
    const where = `${path}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm.labelSelector`
    texts.push(`${where}: ${nullSelector}`)
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
  if (subject.annotations === undefined) return
  for (const [name, text] of deprecatedAnnotations) warnAnnotation(texts, subject, name.replace('DOMAIN', domain), text)
}

/** Warns of an annotation when it exists. */
function warnAnnotation(texts: string[], { annotations, at }: Subject, key: string, text: string): void {
  if (own(annotations, key) !== undefined) texts.push(`${at}metadata.annotations[${key}]: ${text}`)
}

/** Annotations that give profiles which no field gives. A pod itself is warned of AppArmor when its field is set. */
function warnProfiles(texts: string[], subject: Subject, container: R<Container>, { domain }: NamingProfile): void {
  if (subject.annotations === undefined) return
  const { securityContext } = container
  if (!isSet(securityContext?.seccompProfile))
    warnAnnotation(texts, subject, `container.seccomp.security.alpha.${domain}/${container.name}`, seccompText)
  if (subject.at === '' || isSet(securityContext?.appArmorProfile) || isSet(subject.spec.securityContext?.appArmorProfile)) return
  const text = 'deprecated since v1.30; use the "appArmorProfile" field instead'
  warnAnnotation(texts, subject, `container.apparmor.security.beta.${domain}/${container.name}`, text)
}

/** Warns of items whose member has the value of an earlier one. */
function warnRepeated<Member extends string>(
  texts: string[],
  items: readonly { readonly [name in Member]?: string }[] | undefined,
  { at, member }: { readonly at: string; readonly member: Member },
): void {
  if (items === undefined || items.length < 2) return
  const seen = new Set<string>()
  for (const [i, item] of items.entries()) {
    const value = item[member] ?? ''
    if (seen.has(value)) texts.push(`${at}[${i}].${member}: duplicate ${member} ${goQuote(value)}`)
    seen.add(value)
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
  warnStorage(
    texts,
    volume.ephemeral?.volumeClaimTemplate?.spec.resources,
    `${path}.ephemeral.volumeClaimTemplate.spec.resources`,
  )
}

function warnContainer(texts: string[], container: R<Container>, path: string): void {
  for (const name of byteResources) {
    warnFraction(texts, container.resources?.limits, { name, path: `${path}.resources.limits` })
    warnFraction(texts, container.resources?.requests, { name, path: `${path}.resources.requests` })
  }
  const names = new Set<string>()
  for (const [i, variable] of (container.env ?? []).entries()) {
    if (names.has(variable.name) && !extendsEarlier(variable))
      texts.push(
        `${path}.env[${i}]: hides previous definition of ${goQuote(variable.name)}, which may be dropped when using apply`,
      )
    names.add(variable.name)
  }
}

/** Whether the value of a variable contains that of an earlier variable with its name. */
function extendsEarlier({ name, value = '', valueFrom }: R<EnvVar>): boolean {
  const reference = `$(${name})`
  return !isSet(valueFrom) && value !== reference && value.includes(reference)
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
