import type { CredentialsResolver, ServiceResolver } from '@krmkit/admission/webhooks'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { WebhookTransport } from '@krmkit/protocol'

/** How the server reaches conversion webhooks. */
export interface ConversionOptions {
  /** Default: none, so that only `inProcess` converters can be reached. */
  readonly transport?: WebhookTransport
  /** Resolves services to addresses. Default: the cluster addresses of services. */
  readonly resolveService?: ServiceResolver
  readonly resolveCredentials?: CredentialsResolver
  /** Converters by the URL in definitions, or by `https://name.namespace.svc:port/path` of a service. */
  readonly inProcess?: Readonly<Record<string, InProcessConverter>>
  /** Timeout of a webhook call in milliseconds. Default 30 s. */
  readonly timeoutMs?: number
}

/**
 * A conversion webhook in this process. Returns one object of `desiredAPIVersion` for each input object, in the same order. Input objects
 * are shared and must not be modified.
 *
 * @throws Error whose message becomes the failure of the conversion.
 */
export type InProcessConverter = (
  objects: readonly DeepReadonly<ApiObject>[],
  desiredAPIVersion: string,
) => readonly ApiObject[] | Promise<readonly ApiObject[]>
