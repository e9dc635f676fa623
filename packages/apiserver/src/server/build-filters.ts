import { createIdentityHeaderRules } from '@krmkit/authentication/headers'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { ApiResponse } from '@krmkit/protocol'
import { createBodyReader } from '../audit/bodies.ts'
import { auditTrails } from '../audit/trails.ts'
import { audit, auditRejections } from '../filters/audit.ts'
import { authentication } from '../filters/authentication.ts'
import { authorization } from '../filters/authorization.ts'
import { cors } from '../filters/cors.ts'
import { errorResponses } from '../filters/error-responses.ts'
import { impersonation } from '../filters/impersonation.ts'
import { timeout } from '../filters/timeout.ts'
import { warnings } from '../filters/warnings.ts'
import { inFlight } from '../flow-control/in-flight.ts'
import type { Filter, RequestContext } from '../request/context.ts'
import type { ServerScope } from '../request/scope.ts'
import { tracing, tracked } from '../tracing/request-tracing.ts'
import type { ServerSettings } from './options.ts'

export interface FilterParts {
  readonly scope: ServerScope
  readonly failed: (context: RequestContext, error: unknown) => ApiResponse
  readonly metrics: Filter
  /** Priority and fairness. Undefined: the two limits on requests in flight apply. */
  readonly flowControl: Filter | undefined
}

/** The filters in execution order. */
export function buildFilters(settings: ServerSettings, { scope, failed, metrics, flowControl }: FilterParts): readonly Filter[] {
  const { authenticator, clock, limits, onError, profile } = settings
  const { authorizer } = scope
  const tracer = gateEnabled('APIServerTracing', settings.features) ? settings.tracer : undefined
  const spanned = (name: string, filter: Filter): Filter => (tracer === undefined ? filter : tracked(name, filter))
  const trails = auditTrails(settings.audit)
  const auditing = { clock, profile, bodies: createBodyReader((gvk) => scope.kind(gvk)?.type()) }
  return [
    cors(settings.corsAllowedOrigins ?? []),
    metrics,
    errorResponses(failed),
    auditRejections(trails, auditing),
    timeout(limits.requestTimeoutMs, clock),
    authentication(authenticator, { identityHeaders: createIdentityHeaderRules(settings.proxyHeaders), onError }),
    tracer === undefined ? undefined : tracing(tracer),
    audit(trails, auditing),
    // Warnings are sent with errors as well, and may depend on the user.
    warnings(),
    errorResponses(failed),
    spanned('impersonation', impersonation(authorizer, profile, settings.features)),
    spanned(
      'priorityandfairness',
      flowControl ?? inFlight({ readOnly: limits.readOnlyInFlight, mutating: limits.mutatingInFlight }),
    ),
    spanned('authorization', authorization(authorizer, profile, settings.features)),
  ].filter((filter) => filter !== undefined)
}
