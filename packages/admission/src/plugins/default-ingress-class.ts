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
