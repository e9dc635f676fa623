import type { Work } from '@krmkit/base/work'
import { trimSpace } from '@krmkit/meta/go-text'
/** Containers of every sort: regular, init, sidecar and ephemeral. */
import type { Container, EphemeralContainer, PodOS } from '../../types/core-v1.generated.ts'
import { validateContainerPorts, validateHostPortConflicts } from './container-ports.ts'
import { validateEnv, validateEnvFrom } from './env.ts'
import type { FieldPath } from './field-path.ts'
import { validateDnsLabel } from './names.ts'
import { validateLifecycle, validateLivenessProbe, validateReadinessProbe, validateStartupProbe } from './probes.ts'
import { validateResizePolicy, validateResources } from './resources.ts'
import { validateContainerRestart, validateInitRestart } from './restart-rules.ts'
import { validateSecurityContext } from './security-context.ts'
import { isEmpty, isSet, type R } from './values.ts'
import { type VolumesByName, validateVolumeDevices, validateVolumeMounts } from './volume-mounts.ts'

/** What the rules of containers need to know about the pod. */
export interface ContainerOptions {
  readonly volumes: VolumesByName
  /** Names of `spec.resourceClaims`. */
  readonly claims: ReadonlySet<string>
  readonly gracePeriodSeconds: number
  readonly restartPolicy: string | undefined
  readonly hostUsers: boolean
  /** System of the pod. */
  readonly os: R<PodOS> | null | undefined
}

const messagePolicies = ['File', 'FallbackToLogsOnError']
const pullPolicies = ['Always', 'IfNotPresent', 'Never']

function* validateCommon(container: R<Container>, at: FieldPath, options: ContainerOptions): Work {
  if (isEmpty(container.name)) at.child('name').required()
  else validateDnsLabel(container.name, at.child('name'))
  if (isEmpty(container.image)) at.child('image').required()
  const messagePolicy = container.terminationMessagePolicy
  if (isEmpty(messagePolicy)) at.child('terminationMessagePolicy').required()
  else if (!messagePolicies.includes(messagePolicy))
    at.child('terminationMessagePolicy').notSupported(messagePolicy, messagePolicies)
  yield* validateContainerPorts(container.ports, at.child('ports'))
  yield* validateEnv(container.env, at.child('env'))
  yield* validateEnvFrom(container.envFrom, at.child('envFrom'))
  yield* validateVolumeMounts(container, at.child('volumeMounts'), options.volumes)
  validateVolumeDevices(container, at.child('volumeDevices'), options.volumes)
  if (isEmpty(container.imagePullPolicy)) at.child('imagePullPolicy').required()
  else if (!pullPolicies.includes(container.imagePullPolicy)) {
    at.child('imagePullPolicy').notSupported(container.imagePullPolicy, pullPolicies)
  }
  validateResources(container.resources, at.child('resources'), { claims: options.claims })
  validateResizePolicy(container.resizePolicy, at.child('resizePolicy'), options.restartPolicy)
  validateSecurityContext(container.securityContext, at.child('securityContext'), { hostUsers: options.hostUsers })
}

function validateRunning(container: R<Container>, at: FieldPath, options: ContainerOptions): void {
  validateLifecycle(container.lifecycle, at.child('lifecycle'), options)
  validateLivenessProbe(container.livenessProbe, at.child('livenessProbe'), options)
  validateReadinessProbe(container.readinessProbe, at.child('readinessProbe'), options)
  validateStartupProbe(container.startupProbe, at.child('startupProbe'), options)
}

/** `containers` of a pod. */
export function* validateContainers(
  containers: readonly R<Container>[] | null | undefined,
  at: FieldPath,
  options: ContainerOptions,
): Work {
  if (isEmpty(containers)) {
    at.required()
    return
  }
  const names = new Set<string>()
  for (const [i, container] of containers.entries()) {
    yield
    const here = at.index(i)
    yield* validateCommon(container, here, options)
    if (names.has(container.name)) here.child('name').duplicate(container.name)
    else names.add(container.name)
    validateRunning(container, here, options)
    validateContainerRestart(container, here)
  }
  validateHostPortConflicts(containers, at)
}

const initOnly = 'may not be set for init containers without restartPolicy=Always'

/** `initContainers` of a pod whose regular containers are `regular`. */
export function* validateInitContainers(
  containers: readonly R<Container>[] | null | undefined,
  at: FieldPath,
  options: ContainerOptions & { readonly regular: readonly R<Container>[] },
): Work {
  const names = new Set(options.regular.map((container) => container.name))
  for (const [i, container] of (containers ?? []).entries()) {
    yield
    const here = at.index(i)
    const sidecar = container.restartPolicy === 'Always'
    yield* validateCommon(container, here, options)
    validateInitRestart(container, here)
    if (names.has(container.name)) here.child('name').duplicate(container.name)
    else if (!isEmpty(container.name)) names.add(container.name)
    // Init containers run one after another, so host ports conflict within one container only.
    validateHostPortConflicts([container], at)
    if (sidecar) validateRunning(container, here, options)
    else {
      for (const name of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
        if (isSet(container[name])) here.child(name).forbidden(initOnly)
      }
      if (at.errors.context.features.release.atLeast('1.36')) validateInitResizePolicy(container, here.child('resizePolicy'))
    }
  }
}

/** A container that ends cannot restart to be resized. */
function validateInitResizePolicy({ resizePolicy }: R<Container>, at: FieldPath): void {
  const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
  for (const [i, { restartPolicy }] of (resizePolicy ?? []).entries()) {
    if (restartPolicy === 'RestartContainer') at.index(i).child('restartPolicy').invalid(restartPolicy, detail)
  }
}

/** Members that an ephemeral container may have; all others are rejected. */
const ephemeralMembers = new Set([
  'name',
  'image',
  'command',
  'args',
  'workingDir',
  'env',
  'envFrom',
  'volumeMounts',
  'volumeDevices',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'imagePullPolicy',
  'securityContext',
  'stdin',
  'stdinOnce',
  'tty',
  'targetContainerName',
])

/** `ephemeralContainers` of a pod. */
export function* validateEphemeralContainers(
  containers: readonly R<EphemeralContainer>[] | null | undefined,
  at: FieldPath,
  options: ContainerOptions & { readonly regular: readonly R<Container>[]; readonly init: readonly R<Container>[] },
): Work {
  if (isEmpty(containers)) return
  const regular = new Set([...options.regular, ...options.init].map((container) => container.name))
  const names = new Set<string>()
  for (const [i, container] of containers.entries()) {
    yield
    const here = at.index(i)
    yield* validateCommon(container as R<Container>, here, options)
    validateImageWhitespace(container.image, here)
    if (regular.has(container.name) || names.has(container.name)) here.child('name').duplicate(container.name)
    names.add(container.name)
    const target = container.targetContainerName
    if (!isEmpty(target) && !regular.has(target)) here.child('targetContainerName').notFound(target)
    validateEphemeralMembers(container, here)
  }
}

function validateEphemeralMembers(container: R<EphemeralContainer>, at: FieldPath): void {
  for (const [name, value] of Object.entries(container)) {
    if (ephemeralMembers.has(name) || !isSet(value) || (name === 'resources' && Object.keys(value).length === 0)) continue
    at.child(name).forbidden('cannot be set for an Ephemeral Container')
  }
  for (const [j, mount] of (container.volumeMounts ?? []).entries()) {
    const here = at.child('volumeMounts').index(j)
    if (!isEmpty(mount.subPath)) here.child('subPath').forbidden('cannot be set for an Ephemeral Container')
    if (!isEmpty(mount.subPathExpr)) here.child('subPathExpr').forbidden('cannot be set for an Ephemeral Container')
  }
}

/** Images of pods (not of templates) must not have surrounding white space. */
export function validateImages(containers: readonly R<Container>[] | null | undefined, at: FieldPath): void {
  for (const [i, container] of (containers ?? []).entries()) validateImageWhitespace(container.image, at.index(i))
}

function validateImageWhitespace(image: string | undefined, at: FieldPath): void {
  if (image !== undefined && trimSpace(image) !== image) {
    at.child('image').invalid(image, 'must not have leading or trailing whitespace')
  }
}
