import { base64Text, utf8Bytes } from '@krmkit/base/bytes'
import { CertificateError, type CertificateSigner } from '@krmkit/certificates'
import { type DeepReadonly, formatTime } from '@krmkit/meta'
import { ControllersError } from '../controllers-error.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { hasCondition, type SigningRequest, signingRequests, withCondition } from './signing-requests.ts'

/**
 * Signs approved requests for the built-in signers and ignores others. A request that cannot be signed is reported to
 * `onError` once, as `NotSigned`, and gets the condition `Failed` unless `reportFailures` is false.
 *
 * Disabled when no signers are configured.
 *
 * @see API protocol specification, 2.10 and 3
 */
export const signingController: Controller = {
  name: 'certificatesigningrequest-signing-controller',
  start(context) {
    const { signing, informers, queue, profile } = context
    if (signing === undefined) return disposeSubscriptions([])
    const known = informers.of(signingRequests(profile))
    /** UIDs of invalid requests that were already reported. The spec is immutable, so an invalid request stays invalid. */
    const reported = new Set<string>()
    const work = queue<string>({
      async sync(name) {
        const request = known.get(name)
        const signer = request && signing.signers.of(request.spec.signerName ?? '')
        if (request === undefined || signer === undefined || !needsSigning(request)) return undefined
        const uid = request.metadata.uid ?? ''
        const writesFailures = signing.reportFailures !== false
        if (reported.has(uid) && !writesFailures) return undefined
        const problem = await sign(request, signer, context)
        if (problem === undefined) return undefined
        if (!reported.has(uid)) context.onError(notSigned(request, problem))
        reported.add(uid)
        // After a conflict the queue retries the sync with the newer request.
        if (writesFailures) await writeFailure(request, problem, context)
        return undefined
      },
    })
    const enqueue = ({ metadata }: DeepReadonly<SigningRequest>) => work.add(metadata.name ?? '')
    const forget = ({ metadata }: DeepReadonly<SigningRequest>) => reported.delete(metadata.uid ?? '')
    const unsubscribe = known.on({ added: enqueue, updated: enqueue, deleted: forget })
    return disposeSubscriptions([unsubscribe])
  },
}

function needsSigning(request: DeepReadonly<SigningRequest>): boolean {
  if ((request.status?.certificate ?? '') !== '' || hasCondition(request, 'Denied')) return false
  return hasCondition(request, 'Approved') && !hasCondition(request, 'Failed')
}

/** Signs a request. Errors of the signer are thrown and retried. @returns the problem of an invalid request */
async function sign(
  request: DeepReadonly<SigningRequest>,
  signer: CertificateSigner,
  { client, profile, fieldManager, signal }: ControllerContext,
): Promise<string | undefined> {
  const { request: text, usages = [], expirationSeconds } = request.spec
  let pem: string
  try {
    pem = await signer.sign({ request: text ?? '', usages, expirationSeconds })
  } catch (error) {
    if (!(error instanceof CertificateError) || !isRequestError(error)) throw error
    return error.message
  }
  const next = structuredClone(request) as SigningRequest
  next.status = { ...next.status, certificate: base64Text(utf8Bytes(pem)) }
  await ignoreNotFound(client.update(signingRequests(profile), next, { subresource: 'status', fieldManager, signal }))
  return undefined
}

function isRequestError({ code }: CertificateError): boolean {
  return code === 'Malformed' || code === 'Refused' || code === 'BadSignature' || code === 'WeakKey'
}

function notSigned({ metadata, spec }: DeepReadonly<SigningRequest>, problem: string): ControllersError {
  const message = `certificate request ${JSON.stringify(metadata.name)} was not signed by ${spec.signerName}: ${problem}`
  return new ControllersError({ code: 'NotSigned', message })
}

async function writeFailure(
  request: DeepReadonly<SigningRequest>,
  message: string,
  { client, clock, profile, fieldManager, signal }: ControllerContext,
): Promise<void> {
  const failed = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message,
    lastUpdateTime: formatTime(clock.now()),
  }
  const next = withCondition(request, failed)
  await ignoreNotFound(client.update(signingRequests(profile), next, { subresource: 'status', fieldManager, signal }))
}
