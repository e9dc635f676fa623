import type { CredentialsFor, ServiceResolver } from '@krmkit/admission'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { WebhookTransport } from '@krmkit/protocol'

/** What reaches conversion webhooks, as whoever runs a server hands it over. */
export interface ConversionOptions {
  /** Absent: only converters in this process can be reached. */
  readonly transport?: WebhookTransport
  /** Default: services of the cluster, at their addresses. */
  readonly resolveService?: ServiceResolver
  readonly credentialsFor?: CredentialsFor
  /** By the URL that definitions name, or by `https://name.namespace.svc:port/path` of a service. */
  readonly inProcess?: Readonly<Record<string, InProcessConverter>>
  /** How long a webhook may take, in milliseconds. Default 30 s. */
  readonly timeoutMs?: number
}

/**
 * A conversion webhook in this process: as many objects as it is shown, in their order, each of `desiredAPIVersion`. What it is
 * shown is shared: it must change nothing.
 *
 * @throws Error whose message tells why it cannot.
 */
export type InProcessConverter = (
  objects: readonly DeepReadonly<ApiObject>[],
  desiredAPIVersion: string,
) => readonly ApiObject[] | Promise<readonly ApiObject[]>
