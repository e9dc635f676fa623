import type { AdmissionDecision } from '@krmkit/admission'
import { type Clock, isJsonObject, type JsonValue, type NamingProfile, type StatusDetails, type UserInfo } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { stringifyJson } from '@krmkit/schema'
import { header, type ObjectIdentity, type RequestContext } from '../request/context.ts'
import { type BodyReader, holdsSecrets, withoutManagedFields, withoutQuote, withoutTokens } from './bodies.ts'
import type { AuditDecision, AuditEvent, AuditObjectRef, AuditStage, AuditStatus, AuditTrail, AuditUser } from './interfaces.ts'
import { sourceAddresses } from './source-addresses.ts'

/** A trail that audits a request, and the level at which it does. */
export interface SelectedTrail {
  readonly trail: AuditTrail
  readonly decision: AuditDecision
}

export interface RecordOptions {
  readonly clock: Clock
  readonly profile: NamingProfile
  readonly bodies: BodyReader
}

/** Outcome of a stage. */
export interface StageOutcome {
  readonly response?: ApiResponse | undefined
  /** Replaces the message of the response. */
  readonly message?: string
}

/**
 * Emits the audit events of one request:
 *
 *     RequestReceived -> ResponseStarted (long-running requests) -> ResponseComplete | Panic
 */
export class AuditRecord {
  readonly #context: RequestContext
  readonly #selected: readonly SelectedTrail[]
  readonly #options: RecordOptions
  /** The authenticated user; undefined when authentication failed. */
  readonly #user: UserInfo | undefined
  readonly #sourceIPs: readonly string[]
  readonly #userAgent: string | undefined

  constructor(context: RequestContext, selected: readonly SelectedTrail[], options: RecordOptions, user: UserInfo | undefined) {
    this.#context = context
    this.#selected = selected
    this.#options = options
    this.#user = user
    this.#sourceIPs = sourceAddresses(context.request)
    this.#userAgent = truncatedUserAgent(header(context.request, 'user-agent'))
  }

  /** Sends an event to every trail whose policy includes the stage. @throws when a strict backend loses the first event. */
  async emit(stage: AuditStage, outcome: StageOutcome = {}): Promise<void> {
    const facts = this.#stageFacts(stage, outcome)
    for (const { trail, decision } of this.#selected) {
      if (decision.omitStages.has(stage)) continue
      const { backend } = trail
      try {
        await backend.process([this.#event(stage, decision, facts)])
      } catch (error) {
        // Backends report lost events; only the first event of a strict backend fails the request.
        if (backend.strict === true && stage === 'RequestReceived') throw error
      }
    }
  }

  #stageFacts(stage: AuditStage, { response, message }: StageOutcome): StageFacts {
    const isOver = stage === 'ResponseComplete' || stage === 'Panic'
    const responseStatus = this.#statusOf(stage, response, message)
    return { responseStatus, response: isOver ? response : undefined, timestamp: microTime(this.#options.clock.now()) }
  }

  #statusOf(stage: AuditStage, response: ApiResponse | undefined, message: string | undefined): AuditStatus | undefined {
    if (stage === 'RequestReceived') return undefined
    if (stage === 'Panic') {
      const text = `the server failed: ${this.#context.fault instanceof Error ? this.#context.fault.message : String(this.#context.fault)}`
      return { metadata: {}, status: 'Failure', message: text, reason: 'InternalError', code: 500 }
    }
    const code = response?.status ?? 200
    if (message !== undefined) return { metadata: {}, message, code }
    const status = response === undefined ? undefined : this.#responseStatus(response)
    return { metadata: {}, ...status, code }
  }

  /** Members of the Status in an error response, or in the response of a deletion. */
  #responseStatus(response: ApiResponse): Omit<AuditStatus, 'metadata' | 'code'> | undefined {
    const { verb } = this.#context.info
    if (response.status < 400 && verb !== 'delete' && verb !== 'deletecollection') return undefined
    const value = this.#bodyOf(response)
    if (!isJsonObject(value) || value['kind'] !== 'Status') return undefined
    const { status, message, reason, details } = value
    return {
      ...(typeof status === 'string' ? { status } : {}),
      ...(typeof message === 'string' ? { message } : {}),
      ...(typeof reason === 'string' ? { reason } : {}),
      ...(typeof details === 'object' && details !== null ? { details: details as StatusDetails } : {}),
    }
  }

  /** The object in a response. Replaces the message of an error that may quote a secret of the request. */
  #bodyOf(response: ApiResponse): JsonValue | undefined {
    const value = this.#options.bodies.response(response)
    const { info, requestObject } = this.#context
    const isQuote = response.status === 400 && holdsSecrets(info) && (requestObject === undefined || info.verb === 'patch')
    return isQuote && isJsonObject(value) ? { ...value, message: withoutQuote } : value
  }

  #event(stage: AuditStage, decision: AuditDecision, facts: StageFacts): AuditEvent {
    const context = this.#context
    const { request, impersonator, impersonationConstraint, startedAt } = context
    const { responseStatus, timestamp } = facts
    const annotations = this.#annotations(decision)
    const objectRef = objectRefOf(context)
    return {
      kind: 'Event',
      apiVersion: `audit.${this.#options.profile.apiDomain}/v1`,
      level: decision.level,
      auditID: context.auditId,
      stage,
      requestURI: request.query === '' ? request.path : `${request.path}?${request.query}`,
      verb: context.info.verb,
      user: userOf(this.#user),
      ...(impersonator === undefined ? {} : { impersonatedUser: userOf(context.user) }),
      ...(impersonationConstraint === undefined ? {} : { authenticationMetadata: { impersonationConstraint } }),
      ...(this.#sourceIPs.length === 0 ? {} : { sourceIPs: this.#sourceIPs }),
      ...(this.#userAgent === undefined ? {} : { userAgent: this.#userAgent }),
      ...(objectRef === undefined ? {} : { objectRef }),
      ...(responseStatus === undefined ? {} : { responseStatus }),
      ...this.#bodies(stage, decision, facts),
      requestReceivedTimestamp: microTime(startedAt),
      stageTimestamp: timestamp,
      ...(annotations === undefined ? {} : { annotations }),
    }
  }

  #bodies(
    stage: AuditStage,
    { level, omitManagedFields }: AuditDecision,
    { response }: StageFacts,
  ): Pick<AuditEvent, 'requestObject' | 'responseObject'> {
    if (stage === 'RequestReceived' || level === 'None' || level === 'Metadata') return {}
    const shown = (value: JsonValue | undefined) =>
      value === undefined ? undefined : withoutTokens(omitManagedFields ? withoutManagedFields(value) : value)
    const requestObject = shown(this.#context.requestObject?.value)
    const responseObject = level === 'RequestResponse' && response !== undefined ? shown(this.#bodyOf(response)) : undefined
    return {
      ...(requestObject === undefined ? {} : { requestObject }),
      ...(responseObject === undefined ? {} : { responseObject }),
    }
  }

  #annotations({ level }: AuditDecision): Readonly<Record<string, string>> | undefined {
    const { annotations, detailAnnotations, decisions } = this.#context
    const traced =
      decisions.length === 0
        ? {}
        : { [`decisions.admission.${this.#options.profile.apiDomain}/plugins`]: decisionsText(decisions) }
    const all = level === 'Metadata' ? annotations : { ...annotations, ...detailAnnotations, ...traced }
    return Object.keys(all).length === 0 ? undefined : { ...all }
  }
}

const maxUserAgentCharacters = 1024

/** Truncates like kube-apiserver, which keeps the whole request URI. */
function truncatedUserAgent(userAgent: string | undefined): string | undefined {
  if (userAgent === undefined || userAgent.length <= maxUserAgentCharacters) return userAgent
  return `${userAgent.slice(0, maxUserAgentCharacters)}...TRUNCATED`
}

interface StageFacts {
  readonly responseStatus: AuditStatus | undefined
  readonly response: ApiResponse | undefined
  readonly timestamp: string
}

function userOf(user: UserInfo | undefined): AuditUser {
  if (user === undefined) return {}
  const { username, uid = '', groups, extra } = user
  return {
    ...(username === '' ? {} : { username }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

/** The decisions of admission plugins. Changes are listed by operation and path only, because their values are in the bodies. */
function decisionsText(decisions: readonly AdmissionDecision[]): string {
  return stringifyJson(
    decisions.map(({ plugin, phase, outcome, changes, reasons, message }) => ({
      plugin,
      phase,
      outcome,
      ...(changes.length === 0 ? {} : { changes: changes.map(({ op, path }) => `${op} ${path}`) }),
      ...(reasons.length === 0 ? {} : { reasons }),
      ...(message === undefined ? {} : { message }),
    })),
  )
}

/** The object that the path names, completed by metadata of the body. */
function objectRefOf({ info, requestObject }: RequestContext): AuditObjectRef | undefined {
  if (!info.isResource) return undefined
  const body: ObjectIdentity = requestObject?.identity ?? {}
  const ref = {
    resource: info.resource,
    namespace: info.namespace || body.namespace,
    name: info.name || body.name,
    uid: body.uid,
    apiGroup: info.group,
    apiVersion: info.version,
    resourceVersion: body.resourceVersion,
    subresource: info.subresource,
  }
  return Object.fromEntries(Object.entries(ref).filter(([, value]) => value !== undefined && value !== '')) as AuditObjectRef
}

/** `2024-01-01T00:00:00.000000Z` */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}
