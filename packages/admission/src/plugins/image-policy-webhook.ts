import { ByteBoundedCache } from '@krmkit/base/byte-bounded-cache'
import type { Clock, DeepReadonly, Features, NamingProfile } from '@krmkit/meta'
import type { PostJson } from '../environment.ts'
import type { ImagePolicyConfiguration } from '../image-policy/configuration.ts'
import { type ImageReviewStatus, readImageReview } from '../image-policy/response.ts'
import type { AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import type { Pod } from '../pod.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

export interface ImagePolicyOptions {
  readonly profile: NamingProfile
  /** The release that the requests have the form of. Default: 1.33, in which metadata has a `creationTimestamp` of null. */
  readonly features?: Pick<Features, 'release'> | undefined
  readonly clock: Clock
  readonly configuration: ImagePolicyConfiguration
  /** Posts an ImageReview to the service. */
  readonly post: PostJson
}

/** Size limit of the decision cache. */
const cacheBytes = 4 * 1024 * 1024

const maxAttempts = 5

/**
 * Reviews the images of pods with an external service and caches its decisions.
 *
 * @see API protocol specification, 4.8 and 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { imagePolicyWebhook, parseImagePolicyConfiguration } from '@krmkit/admission/plugins'
 * import { stockProfile, systemClock } from '@krmkit/meta'
 *
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const spec = { containers: [{ name: 'app', image: 'app:1' }] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const configuration = parseImagePolicyConfiguration({ imagePolicy: { kubeConfigFile: 'images.kubeconfig' } })
 * const post = async () => ({ status: { allowed: false, reason: 'app:1 is not signed' } })
 * const plugins = [imagePolicyWebhook({ profile: stockProfile, clock: systemClock, configuration, post })]
 * const { status } = await admit({ ...pods, object }, plugins, new ObjectSet())
 * status?.message // 'pods "web" is forbidden: image policy webhook backend denied one or more images: app:1 is not signed'
 * ```
 */
export function imagePolicyWebhook({ profile, features, clock, configuration, post }: ImagePolicyOptions): AdmissionPlugin {
  const { allowMs, denyMs, retryBackoffMs, defaultAllow } = configuration
  const group = `imagepolicy.${profile.apiDomain}`
  const annotationPart = `.image-policy.${profile.apiDomain}/`
  const auditPrefix = `imagepolicywebhook${annotationPart}`
  const cache = new ByteBoundedCache<ImageReviewStatus>({ clock, maxBytes: cacheBytes, maxKeyLength: 16_384 })
  const review = async (spec: object): Promise<ImageReviewStatus> => {
    const key = JSON.stringify(spec)
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const imageReview = {
      apiVersion: `${group}/v1alpha1`,
      kind: 'ImageReview',
      metadata: features?.release.atLeast('1.34') === true ? {} : { creationTimestamp: null },
      spec,
      status: { allowed: false },
    }
    const response = await retry(() => post(imageReview), { clock, backoffMs: retryBackoffMs })
    const status = readImageReview(response, group)
    cache.set(key, status, clock.now() + (status.allowed ? allowMs : denyMs))
    return status
  }
  return {
    name: 'ImagePolicyWebhook',
    handles: onResource('', 'pods', ['CREATE', 'UPDATE'], ['', 'ephemeralcontainers']),
    async validate(object, attributes, context: AdmissionContext) {
      const pod = object as DeepReadonly<Pod>
      const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec
      const chosen = attributes.subresource === '' ? [...containers, ...initContainers] : ephemeralContainers
      const annotations = Object.entries(pod.metadata.annotations ?? {}).filter(([name]) => name.includes(annotationPart))
      const spec = {
        ...(chosen.length === 0 ? {} : { containers: chosen.map(({ image }) => (image === undefined ? {} : { image })) }),
        ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations.sort()) }),
        namespace: attributes.namespace,
      }
      let status: ImageReviewStatus
      try {
        status = await review(spec)
      } catch (error) {
        if (!defaultAllow) throw forbidden(attributes, pod, error instanceof Error ? error.message : String(error))
        context.annotate?.(`${auditPrefix}failed-open`, 'true')
        context.explain?.('the image policy service is unavailable, and the configuration allows pods by default')
        return
      }
      for (const [name, value] of Object.entries(status.auditAnnotations)) context.annotate?.(auditPrefix + name, value)
      if (status.allowed) return
      const detail =
        status.reason === ''
          ? 'one or more images rejected by webhook backend'
          : `image policy webhook backend denied one or more images: ${status.reason}`
      throw forbidden(attributes, pod, detail)
    },
  }
}

/** Retries with exponential backoff. */
async function retry<T>(call: () => Promise<T>, { clock, backoffMs }: { clock: Clock; backoffMs: number }): Promise<T> {
  for (let attempt = 1, waitMs = backoffMs; ; attempt++, waitMs *= 1.5) {
    try {
      return await call()
    } catch (error) {
      if (attempt === maxAttempts || !isRetryable(error)) throw error
    }
    await new Promise<void>((resolve) => clock.setTimeout(resolve, waitMs))
  }
}

/** Client errors other than 429 are final. */
function isRetryable(error: unknown): boolean {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined
  return typeof status !== 'number' || status === 429 || status >= 500
}
