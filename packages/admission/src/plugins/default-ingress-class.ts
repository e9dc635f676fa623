import type { ApiObject, NamingProfile } from '@krmkit/meta'
import { defaultClass } from '../default-class.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import { onResource } from '../targets.ts'

interface Ingress extends ApiObject {
  spec?: { ingressClassName?: string | null }
}

/**
 * Sets the default ingress class on ingresses without a class, whether by field or by annotation.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { defaultIngressClass } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
 * const ingressClass = { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', metadata: { name: 'nginx', annotations } }
 * const cluster = new ObjectSet()
 * cluster.put({ group: 'networking.k8s.io', resource: 'ingressclasses' }, ingressClass)
 * const kind = { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress' }
 * const resource = { group: 'networking.k8s.io', version: 'v1', resource: 'ingresses' }
 * const object = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'web', namespace: 'shop' } }
 * const result = await admit({ kind, resource, object }, [defaultIngressClass(stockProfile)], cluster)
 * result.object?.['spec'] // { ingressClassName: 'nginx' }
 * ```
 */
export function defaultIngressClass({ domain, apiDomain }: NamingProfile): AdmissionPlugin {
  const classes = { group: `networking.${apiDomain}`, resource: 'ingressclasses' }
  const defaultAnnotations = [`ingressclass.${domain}/is-default-class`]
  const classAnnotation = `${domain}/ingress.class`
  return {
    name: 'DefaultIngressClass',
    changes: 'members',
    handles: onResource(classes.group, 'ingresses', ['CREATE']),
    async admit(object, _attributes, { reader, explain }) {
      const ingress = object as Ingress
      if (Object.hasOwn(ingress.metadata.annotations ?? {}, classAnnotation)) return
      if (ingress.spec?.ingressClassName !== undefined && ingress.spec.ingressClassName !== null) return
      const chosen = await defaultClass(reader, classes, defaultAnnotations)
      if (chosen === undefined) return
      explain?.(`ingress class ${chosen.metadata.name} is marked as the default`)
      ingress.spec = { ...ingress.spec, ingressClassName: chosen.metadata.name ?? '' }
    },
  }
}
