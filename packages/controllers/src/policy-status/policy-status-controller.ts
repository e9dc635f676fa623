import { checkPolicyTypes, type PolicyTypeResolver } from '@krmkit/admission/policies'
import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { discover } from '../framework/discovery.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { KindSchemas } from './kind-schemas.ts'

interface Policy extends ApiObject {
  status?: { observedGeneration?: number; typeChecking?: { expressionWarnings?: { fieldRef: string; warning: string }[] } }
}

const fieldManager = 'validatingadmissionpolicy-status'

/** Type-checks the expressions of admission policies and writes warnings to their status. */
export const policyStatusController: Controller = {
  name: 'validatingadmissionpolicy-status-controller',
  start(context) {
    const { client, informers, profile, signal, queue } = context
    const type = resourceType<Policy>({
      group: `admissionregistration.${profile.apiDomain}`,
      version: 'v1',
      resource: 'validatingadmissionpolicies',
      kind: 'ValidatingAdmissionPolicy',
      namespaced: false,
    })
    const policies = informers.of(type)
    const work = queue<string>({
      async sync(name) {
        const policy = policies.get(name)
        if (policy === undefined || isObserved(policy)) return undefined
        const expressionWarnings = [...(await checkPolicyTypes(policy, await knownTypes(context)))]
        const status = {
          observedGeneration: policy.metadata.generation ?? 0,
          typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
        }
        const options = { fieldManager, force: true, subresource: 'status', signal }
        await ignoreNotFound(client.apply(type, { metadata: { name }, status }, options))
        return undefined
      },
    })
    const enqueue = (policy: DeepReadonly<Policy>) => {
      if (!isObserved(policy)) work.add(policy.metadata.name ?? '')
    }
    const unsubscribe = policies.on({ added: enqueue, updated: enqueue })
    return disposeSubscriptions([unsubscribe])
  },
}

function isObserved({ metadata, status }: DeepReadonly<Policy>): boolean {
  return (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0)
}

/** Returns the kinds that the server currently serves. */
async function knownTypes({ client, profile, signal }: ControllerContext): Promise<PolicyTypeResolver> {
  const { all } = await discover(client, { profile, signal })
  const kinds = new Map(all.map((type) => [`${type.group}/${type.version}/${type.resource}`, type]))
  const schemas = new KindSchemas(client, signal)
  return {
    kindOf: ({ group, version, resource }) => kinds.get(`${group}/${version}/${resource}`),
    schemaOf: (type) => schemas.schemaOf(type),
  }
}
