/** Probes and lifecycle hooks of containers. */
import { validateHttpHeaderName } from '@krmkit/meta'
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from '../../types/core-v1.generated.ts'
import { checkPortNumberOrName } from './container-ports.ts'
import type { FieldPath } from './field-path.ts'
import { checkNotNegative } from './numbers.ts'
import { isEmpty, isSet, type R } from './values.ts'

const schemes = ['HTTP', 'HTTPS']

/** Every kind of action; a probe has no `sleep`, a hook has no `grpc`. */
type Handler = R<Omit<Probe, 'sleep'> & Pick<LifecycleHandler, 'sleep'>>

/** What a hook or probe has to know of its pod. */
export interface HandlerOptions {
  readonly gracePeriodSeconds: number
}

export function checkLivenessProbe(probe: R<Probe> | null | undefined, at: FieldPath, options: HandlerOptions): void {
  if (!isSet(probe)) return
  checkProbe(probe, at, options)
  checkSingleSuccess(probe, at)
}

export function checkStartupProbe(probe: R<Probe> | null | undefined, at: FieldPath, options: HandlerOptions): void {
  checkLivenessProbe(probe, at, options)
}

export function checkReadinessProbe(probe: R<Probe> | null | undefined, at: FieldPath, options: HandlerOptions): void {
  if (!isSet(probe)) return
  checkProbe(probe, at, options)
  if (isSet(probe.terminationGracePeriodSeconds)) {
    at.child('terminationGracePeriodSeconds').invalid(probe.terminationGracePeriodSeconds, 'must not be set for readinessProbes')
  }
}

function checkSingleSuccess(probe: R<Probe>, at: FieldPath): void {
  if ((probe.successThreshold ?? 0) !== 1) at.child('successThreshold').invalid(probe.successThreshold ?? 0, 'must be 1')
}

function checkProbe(probe: R<Probe>, at: FieldPath, options: HandlerOptions): void {
  checkHandler(probe, at, options)
  checkNotNegative(probe.initialDelaySeconds, at.child('initialDelaySeconds'))
  checkNotNegative(probe.timeoutSeconds, at.child('timeoutSeconds'))
  checkNotNegative(probe.periodSeconds, at.child('periodSeconds'))
  checkNotNegative(probe.successThreshold, at.child('successThreshold'))
  checkNotNegative(probe.failureThreshold, at.child('failureThreshold'))
  const grace = probe.terminationGracePeriodSeconds
  if (isSet(grace) && grace <= 0) at.child('terminationGracePeriodSeconds').invalid(grace, 'must be greater than 0')
}

/** `lifecycle` of a container. */
export function checkLifecycle(lifecycle: R<Lifecycle> | null | undefined, at: FieldPath, options: HandlerOptions): void {
  if (!isSet(lifecycle)) return
  if (isSet(lifecycle.postStart)) checkHandler(lifecycle.postStart, at.child('postStart'), options)
  if (isSet(lifecycle.preStop)) checkHandler(lifecycle.preStop, at.child('preStop'), options)
}

function checkHandler(handler: Handler, at: FieldPath, options: HandlerOptions): void {
  let found = false
  const first = (name: string): boolean => {
    if (found) at.child(name).forbidden('may not specify more than 1 handler type')
    const result = !found
    found = true
    return result
  }
  if (isSet(handler.exec) && first('exec') && isEmpty(handler.exec.command)) at.child('exec').child('command').required()
  if (isSet(handler.httpGet) && first('httpGet')) checkHttpGet(handler.httpGet, at.child('httpGet'))
  if (isSet(handler.tcpSocket) && first('tcpSocket'))
    checkPortNumberOrName(handler.tcpSocket.port, at.child('tcpSocket').child('port'))
  if (isSet(handler.grpc) && first('grpc')) checkPortNumberOrName(handler.grpc.port, at.child('grpc').child('port'))
  if (isSet(handler.sleep) && first('sleep')) checkSleep(handler.sleep.seconds, at.child('sleep'), options)
  if (!found) at.required('must specify a handler type')
}

function checkHttpGet(action: R<HTTPGetAction>, at: FieldPath): void {
  if (isEmpty(action.path)) at.child('path').required()
  checkPortNumberOrName(action.port, at.child('port'))
  if (!schemes.includes(action.scheme ?? '')) at.child('scheme').notSupported(action.scheme ?? '', schemes)
  for (const header of action.httpHeaders ?? [])
    at.child('httpHeaders').invalidAll(header.name, validateHttpHeaderName(header.name))
}

function checkSleep(seconds: number, at: FieldPath, options: HandlerOptions): void {
  if (seconds >= 0 && seconds <= options.gracePeriodSeconds) return
  at.invalid(seconds, `must be non-negative and less than terminationGracePeriodSeconds (${options.gracePeriodSeconds})`)
}
