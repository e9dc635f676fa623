import type { DeepReadonly } from '@krmkit/meta'
import { readRequestSubject } from '../certificate-subject.ts'
import { type NodeRequest, refuse } from './node-request.ts'

/** A kubelet requests client and serving certificates for its own user name only. */
export function checkSigningRequest(request: NodeRequest, anySubject: boolean): void {
  const { attributes, object, profile } = request
  if (anySubject || attributes.operation !== 'CREATE') return
  const { signerName, request: text = '' } =
    (object as DeepReadonly<{ spec?: { signerName?: string; request?: string } }>).spec ?? {}
  if (signerName !== `${profile.domain}/kubelet-serving` && signerName !== `${profile.domain}/kube-apiserver-client-kubelet`)
    return
  const subject = readRequestSubject(text)
  if ('problem' in subject) refuse(request, `unable to parse csr: ${subject.problem}`)
  if (subject.commonName !== attributes.user.username) {
    refuse(request, `can only create a node CSR with CN=${attributes.user.username}`)
  }
}
