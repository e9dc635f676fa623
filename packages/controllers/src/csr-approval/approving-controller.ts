import { type AutoApproval, autoApprovalsFor, autoApprovedReason } from '@krmkit/certificates'
import { readSigningRequest } from '@krmkit/certificates/request'
import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { hasCondition, type SigningRequest, signingRequests, withCondition } from '../csr-signing/signing-requests.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'

interface Review extends ApiObject {
  spec: object
  status?: { allowed?: boolean }
}

const firstDelayMs = 200
const longestDelayMs = 1_000_000

/**
 * Approves client certificate requests of nodes when the requester is authorized: a node that requests its own certificate,
 * or a user that may add nodes. Checks authorization by SubjectAccessReview and repeats a denied check with backoff, because
 * permission may be granted later.
 *
 * @see API protocol specification, 2.10 and 3
 */
export const approvingController: Controller = {
  name: 'certificatesigningrequest-approving-controller',
  start(context) {
    const { informers, queue, profile } = context
    const known = informers.of(signingRequests(profile))
    /** Number of denied checks by name of the request. */
    const denials = new Map<string, number>()
    const work = queue<string>({
      async sync(name) {
        const request = known.get(name)
        const approvals = request === undefined ? [] : matchingApprovals(request, context)
        if (request === undefined || approvals.length === 0) {
          denials.delete(name)
          return undefined
        }
        for (const approval of approvals) {
          if (!(await isAllowed(request, approval, context))) continue
          await approve(request, approval, context)
          denials.delete(name)
          return undefined
        }
        const count = denials.get(name) ?? 0
        denials.set(name, count + 1)
        return { requeueAfterMs: Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(count, 20)) }
      },
    })
    const enqueue = ({ metadata }: DeepReadonly<SigningRequest>) => work.add(metadata.name ?? '')
    const unsubscribe = known.on({ added: enqueue, updated: enqueue, deleted: enqueue })
    return disposeSubscriptions([unsubscribe])
  },
}

function matchingApprovals(
  request: DeepReadonly<SigningRequest>,
  { profile, signerRules }: ControllerContext,
): readonly AutoApproval[] {
  const isDecided = hasCondition(request, 'Approved') || hasCondition(request, 'Denied')
  if (isDecided || (request.status?.certificate ?? '') !== '') return []
  const { request: text, signerName = '', usages = [], username = '' } = request.spec
  try {
    return autoApprovalsFor({ request: readSigningRequest(text), signerName, usages, username }, profile, signerRules)
  } catch {
    // Validation rejects unparsable requests, so this one was not stored through the API.
    return []
  }
}

async function isAllowed(
  request: DeepReadonly<SigningRequest>,
  { subresource }: AutoApproval,
  { client, profile, signal }: ControllerContext,
): Promise<boolean> {
  const [resource, kind] = ['subjectaccessreviews', 'SubjectAccessReview']
  const group = `authorization.${profile.apiDomain}`
  const reviews = resourceType<Review>({ group, version: 'v1', resource, kind, namespaced: false })
  const { username: user, uid, groups, extra } = request.spec
  const resourceAttributes = {
    group: `certificates.${profile.apiDomain}`,
    resource: 'certificatesigningrequests',
    verb: 'create',
    subresource,
    version: '*',
  }
  const spec = { user, uid, groups, extra, resourceAttributes }
  const known = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined))
  const { status } = await client.create(reviews, { metadata: {}, spec: known }, { signal })
  return status?.allowed === true
}

async function approve(
  request: DeepReadonly<SigningRequest>,
  { message }: AutoApproval,
  { client, profile, fieldManager, signal }: ControllerContext,
): Promise<void> {
  const next = withCondition(request, { type: 'Approved', status: 'True', reason: autoApprovedReason, message })
  await ignoreNotFound(client.update(signingRequests(profile), next, { subresource: 'approval', fieldManager, signal }))
}
