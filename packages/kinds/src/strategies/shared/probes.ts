/** Probes and lifecycle hooks of containers. */

import { gateEnabled } from '@krmkit/meta/feature-gates'
import { validateHttpHeaderName } from '@krmkit/meta/names'
import type { HTTPGetAction, Lifecycle, LifecycleHandler, PodOS, Probe } from '../../types/core-v1.generated.ts'
import { validatePortNumberOrName } from './container-ports.ts'
import type { FieldPath } from './field-path.ts'
import { validateNotNegative } from './numbers.ts'
import { validateStopSignal } from './stop-signal.ts'
import { isEmpty, isSet, type R } from './values.ts'

const schemes = ['HTTP', 'HTTPS']

/** All actions; probes have no `sleep`, hooks no `grpc`. */
type Handler = R<Omit<Probe, 'sleep'> & Pick<LifecycleHandler, 'sleep'>>

/** What hooks and probes need to know about the pod. */
export interface HandlerOptions {
  readonly gracePeriodSeconds: number
}

export function validateLivenessProbe(probe: R<Probe> | null | undefined, at: FieldPath, options: HandlerOptions): void {
  if (!isSet(probe)) return
  validateProbe(probe, at, options)
  validateSingleSuccess(probe, at)
}

export function validateStartupProbe(probe: R<Probe> | null | undefined, at: FieldPath, options: HandlerOptions): void {
  validateLivenessProbe(probe, at, options)
}

export function validateReadinessProbe(probe: R<Probe> | null | undefined, at: FieldPath, options: HandlerOptions): void {
  if (!isSet(probe)) return
  validateProbe(probe, at, options)
  if (isSet(probe.terminationGracePeriodSeconds)) {
    at.child('terminationGracePeriodSeconds').invalid(probe.terminationGracePeriodSeconds, 'must not be set for readinessProbes')
  }
}

function validateSingleSuccess(probe: R<Probe>, at: FieldPath): void {
  if ((probe.successThreshold ?? 0) !== 1) at.child('successThreshold').invalid(probe.successThreshold ?? 0, 'must be 1')
}

function validateProbe(probe: R<Probe>, at: FieldPath, options: HandlerOptions): void {
  validateHandler(probe, at, options)
  validateNotNegative(probe.initialDelaySeconds, at.child('initialDelaySeconds'))
  validateNotNegative(probe.timeoutSeconds, at.child('timeoutSeconds'))
  validateNotNegative(probe.periodSeconds, at.child('periodSeconds'))
  validateNotNegative(probe.successThreshold, at.child('successThreshold'))
  validateNotNegative(probe.failureThreshold, at.child('failureThreshold'))
  const grace = probe.terminationGracePeriodSeconds
  if (isSet(grace) && grace <= 0) at.child('terminationGracePeriodSeconds').invalid(grace, 'must be greater than 0')
}

/** `lifecycle` of a container. */
export function validateLifecycle(
  lifecycle: R<Lifecycle> | null | undefined,
  at: FieldPath,
  options: HandlerOptions & { readonly os: R<PodOS> | null | undefined },
): void {
  if (!isSet(lifecycle)) return
  if (isSet(lifecycle.postStart)) validateHandler(lifecycle.postStart, at.child('postStart'), options)
  if (isSet(lifecycle.preStop)) validateHandler(lifecycle.preStop, at.child('preStop'), options)
  if (isSet(lifecycle.stopSignal)) validateStopSignal(lifecycle.stopSignal, at.child('stopSignal'), options.os)
}

function validateHandler(handler: Handler, at: FieldPath, options: HandlerOptions): void {
  let found = false
  const first = (name: string): boolean => {
    if (found) at.child(name).forbidden('may not specify more than 1 handler type')
    const result = !found
    found = true
    return result
  }
  if (isSet(handler.exec) && first('exec') && isEmpty(handler.exec.command)) at.child('exec').child('command').required()
  if (isSet(handler.httpGet) && first('httpGet')) validateHttpGet(handler.httpGet, at.child('httpGet'))
  if (isSet(handler.tcpSocket) && first('tcpSocket'))
    validatePortNumberOrName(handler.tcpSocket.port, at.child('tcpSocket').child('port'))
  if (isSet(handler.grpc) && first('grpc')) validatePortNumberOrName(handler.grpc.port, at.child('grpc').child('port'))
  if (isSet(handler.sleep) && first('sleep')) validateSleep(handler.sleep.seconds, at.child('sleep'), options)
  if (!found) at.required('must specify a handler type')
}

function validateHttpGet(action: R<HTTPGetAction>, at: FieldPath): void {
  if (isEmpty(action.path)) at.child('path').required()
  validatePortNumberOrName(action.port, at.child('port'))
  if (!schemes.includes(action.scheme ?? '')) at.child('scheme').notSupported(action.scheme ?? '', schemes)
  for (const header of action.httpHeaders ?? [])
    at.child('httpHeaders').invalidAll(header.name, validateHttpHeaderName(header.name))
}

function validateSleep(seconds: number, at: FieldPath, options: HandlerOptions): void {
  const allowsZero = gateEnabled('PodLifecycleSleepActionAllowZero', at.errors.context.features)
  if (seconds >= (allowsZero ? 0 : 1) && seconds <= options.gracePeriodSeconds) return
  const [bound, hint] = allowsZero
    ? ['non-negative', '']
    : ['greater than 0', '. Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.']
  at.invalid(seconds, `must be ${bound} and less than terminationGracePeriodSeconds (${options.gracePeriodSeconds})${hint}`)
}
